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
        ) { row in
            let (number, issuer, name): (Int64, String, String) = (try row.next(), try row.next(), try row.next())
            let firstSeenAt: Timestamp = try row.next()
            let (isSettled, appAccountToken): (Bool, String?) = (try row.next(), try row.next())
            let isErased = issuer == User.erasedIssuer
            return ExportedUser(
                number: number, issuer: isErased ? nil : issuer, name: isErased ? nil : name, firstSeenAt: firstSeenAt,
                appAccountToken: isSettled && !isErased ? appAccountToken : nil)
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
        try database.forEachRow(
            """
            SELECT user_id, happened_at, event, origin, reference FROM audit
            WHERE user_id \(database.isIn(numbers: "$1")) AND event \(database.isIn("$2")) AND happened_at <= $3
            ORDER BY user_id, number
            """,
            [
                database.list(renewals.keys.sorted()),
                database.list([AuditEntry.Event.autoRenewDisabled, .autoRenewEnabled].map(\.rawValue)), end,
            ]
        ) { row in
            let (user, date): (Int64, Timestamp) = (try row.next(), try row.next())
            let event: AuditEntry.Event = try row.next()
            guard let origin: Origin = try row.next() else { return }
            let period = ExportedRenewals.Period(origin: origin, transaction: ByteKey(try row.next()))
            renewals[user, default: ExportedRenewals()].turnedOff[period] = event == .autoRenewDisabled ? date : nil
        }
        return renewals
    }

    private func customers(_ users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let purchases: [Int64: [ExportValue]] = try database.dictionary(
            """
            SELECT user_id, count(*), min(purchase_date), max(purchase_date)
            FROM redeemed_transaction WHERE user_id \(database.isIn(numbers: "$1")) AND redeemed_at <= $2
            GROUP BY user_id
            """,
            [database.list(users.map(\.number)), end]
        ) { row in
            (try row.next(), [.integer(try row.next()), .date(try row.next()), .date(try row.next())])
        }
        return users.filter { $0.name != nil && $0.firstSeenAt <= end }.map { user in
            [.text(user.name), .text(user.issuer), .date(user.firstSeenAt), .text(user.appAccountToken)]
                + (purchases[user.number] ?? [.integer(0), .date(nil), .date(nil)])
        }
    }

    private func events(of users: [ExportedUser], until end: Timestamp) throws -> [[ExportValue]] {
        let known = Dictionary(uniqueKeysWithValues: users.map { ($0.number, $0) })
        return try database.rows(
            """
            SELECT audit.user_id, number, happened_at, event, actor, origin, reference, subject, reason, api_key.name
            FROM audit \(AuditActor.keyJoin)
            WHERE audit.user_id \(database.isIn(numbers: "$1")) AND happened_at <= $2
            ORDER BY audit.user_id, number
            """,
            [database.list(users.map(\.number)), end]
        ) { row in
            let user = known[try row.next()]
            return [
                .text(user?.name), .text(user?.issuer), .integer(try row.next()), .date(try row.next()),
                .text(try row.next()), .text(try row.next()), .text(try row.next()), .text(try row.next()),
                .text(try row.next()), .text(try row.next()), .text(try row.next()),
            ]
        }
    }
}
