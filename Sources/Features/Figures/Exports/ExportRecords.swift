import Ledger
import Proofs

/// The SQL that reads exports, inside the caller's transaction. A page has all rows of its users, in the order of their
/// numbers.
struct ExportRecords {
    /// The rows of some users.
    struct Page {
        let rows: [[ExportValue]]
        /// The last user of the page; nil after the last page.
        let last: Int64?
    }

    let database: any LedgerDatabase
    /// The bundle identifier of the only app whose transactions are exported; nil for all apps.
    let app: String?
    /// Returns a product of the catalog; nil if the catalog has none of the identifier.
    let product: (String) -> Product?

    /// - Parameters:
    ///   - user: The last user of the previous page.
    ///   - end: The moment after which records are left out.
    func page(of export: Export, after user: Int64, until end: Timestamp, limit: Int) throws -> Page {
        let users = try users(after: user, limit: limit)
        guard let last = users.last else { return Page(rows: [], last: nil) }
        let rows =
            switch export {
            case .transactions: try transactions(of: users, until: end)
            case .customers: try customers(users, until: end)
            case .events: try events(of: users, until: end)
            }
        return Page(rows: rows, last: last.number)
    }

    private func users(after user: Int64, limit: Int) throws -> [ExportedUser] {
        try database.rows(
            """
            SELECT user_id, issuer, name, first_seen_at, is_app_account_token_settled, app_account_token
            FROM "user" WHERE user_id > $1 ORDER BY user_id LIMIT $2
            """,
            [user, limit]
        ).map { row in
            let issuer: String = try row["issuer"]
            let isErased = issuer == User.erasedIssuer
            let isSettled: Bool = try row["is_app_account_token_settled"]
            return ExportedUser(
                number: try row["user_id"], issuer: isErased ? nil : issuer, name: isErased ? nil : try row["name"],
                firstSeenAt: try row["first_seen_at"],
                appAccountToken: isSettled && !isErased ? try row["app_account_token"] : nil)
        }
    }

    private func transactions(of users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let apps = try database.apps.names()
        let records = ReadingRecords(database: database)
        let numbers = Set(users.map(\.number))
        let (bought, items) = (try records.transactions(of: numbers), try records.boughtItems(of: numbers))
        let renewals = try renewals(of: numbers, until: end)
        return users.flatMap { user in
            rows(
                of: (bought[user.number] ?? []).filter { isExported($0) && $0.redeemedAt <= end }
                    .sorted { $0.sequence < $1.sequence },
                by: user, apps: apps, items: items[user.number] ?? [:], renewals[user.number] ?? ExportedRenewals())
        }
    }

    private func isExported(_ transaction: RedeemedTransaction) -> Bool {
        app?.hasSameBytes(as: transaction.app ?? "") ?? true
    }

    private func renewals(of users: Set<Int64>, until end: Timestamp) throws -> [Int64: ExportedRenewals] {
        var renewals = try ReadingRecords(database: database).renewals(of: users).mapValues { subscribed in
            var renewals = ExportedRenewals()
            for purchase in subscribed { renewals.statements[purchase.purchase] = purchase.renewal }
            return renewals
        }
        let rows = try database.rows(
            """
            SELECT audit.user_id, happened_at, event, origin, reference
            FROM \(database.listed("$1")) JOIN audit ON audit.user_id = listed.value
            WHERE event \(database.isIn("$2")) AND happened_at <= $3 ORDER BY audit.user_id, number
            """,
            [
                database.list(renewals.keys.sorted()),
                database.list([AuditEntry.Event.autoRenewDisabled, .autoRenewEnabled].map(\.rawValue)), end,
            ])
        for row in rows {
            guard let origin: Origin = try row["origin"] else { continue }
            let period = ExportedRenewals.Period(origin: origin, transaction: ByteKey(try row["reference"]))
            let event: AuditEntry.Event = try row["event"]
            renewals[try row["user_id"], default: ExportedRenewals()].turnedOff[period] =
                event == .autoRenewDisabled ? try row["happened_at"] : nil
        }
        return renewals
    }

    private func customers(_ users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        var purchases: [Int64: SQLRow] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, count(*) AS transactions, min(purchase_date) AS first_purchase, max(purchase_date) AS last_purchase
            FROM \(database.listed("$1")) JOIN redeemed_transaction ON user_id = listed.value
            WHERE redeemed_at <= $2 GROUP BY user_id
            """,
            [database.list(users.map(\.number)), end])
        for row in rows { purchases[try row["user_id"]] = row }
        return try users.filter { $0.name != nil && $0.firstSeenAt <= end }.map { user in
            let row = purchases[user.number]
            return [
                .text(user.name), .text(user.issuer), .date(user.firstSeenAt), .text(user.appAccountToken),
                .integer(try row?["transactions"] ?? 0), .date(try row?["first_purchase"]),
                .date(try row?["last_purchase"]),
            ]
        }
    }

    private func events(of users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let known = Dictionary(uniqueKeysWithValues: users.map { ($0.number, $0) })
        return try database.rows(
            """
            SELECT audit.user_id, number, happened_at, event, actor, origin, reference, subject, reason,
                api_key.name AS actor_name
            FROM \(database.listed("$1")) JOIN audit ON audit.user_id = listed.value
            \(AuditActor.keyJoin)
            WHERE happened_at <= $2 ORDER BY audit.user_id, number
            """,
            [database.list(users.map(\.number)), end]
        ).map { row in
            let user = known[try row["user_id"]]
            return [
                .text(user?.name), .text(user?.issuer), .integer(try row["number"]), .date(try row["happened_at"]),
                .text(try row["event"]), .text(try row["actor"]), .text(try row["origin"]),
                .text(try row["reference"]), .text(try row["subject"]), .text(try row["reason"]),
                .text(try row["actor_name"]),
            ]
        }
    }
}
