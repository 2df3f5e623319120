import Catalog
import Ledger
import Proofs

/// The SQL that reads the items and transactions of users by their numbers, inside the caller's transaction.
struct ReadingRecords {
    let database: any LedgerDatabase

    /// The items of several users at a moment, by purchases of origins and by grants, each once, in order.
    ///
    /// - Parameters:
    ///   - users: The origins that are valid for each user.
    ///   - limit: The limit of the caller, who sees the purchases of the app and the grants of its items; nil for a caller of all
    ///     apps.
    func items(
        of users: [Int64: Set<Origin>],
        seeing limit: AppLimit? = nil,
        at moment: Timestamp
    ) throws -> [Int64: [Item]] {
        guard !users.isEmpty else { return [:] }
        let ofApp = """
            EXISTS (
                SELECT 1 FROM redeemed_transaction AS redeemed
                WHERE redeemed.user_id = entitlement.user_id AND redeemed.sequence = entitlement.sequence
                    AND redeemed.app = (SELECT app FROM app WHERE bundle_id = $2))
            """
        let listed = database.listed("$1")
        let sql = Self.items(
            entitlements:
                "\(listed) JOIN entitlement ON user_id = listed.value WHERE \(limit == nil ? "true" : ofApp)",
            grants: "\(listed) JOIN team_grant ON user_id = listed.value WHERE true", at: limit == nil ? "$2" : "$3")
        let rows = try database.rows(
            sql, [database.list(users.keys.sorted())] + (limit.map { [$0.app] } ?? []) + [moment])
        return try Self.items(in: rows, seeing: limit) { users[$0] ?? [] }
    }

    /// The items by the user's name, in one query.
    func items(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        let isUsers = "user_id = (SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2)"
        let sql = Self.items(
            entitlements: "entitlement WHERE \(isUsers)", grants: "team_grant WHERE \(isUsers)", at: "$3")
        let rows = try database.rows(sql, [user.name, user.issuer, moment])
        return try Self.items(in: rows) { _ in origins }.first?.value ?? []
    }

    /// The query for the items of users at a moment.
    ///
    /// - Parameters:
    ///   - entitlements: The tables of the purchased items, and the condition on their users.
    ///   - grants: The same for the granted items.
    ///   - moment: The parameter of the moment.
    private static func items(entitlements: String, grants: String, at moment: String) -> String {
        """
        SELECT user_id, collection, number, origin FROM \(entitlements) AND is_revoked = 0
            AND (begins_at IS NULL OR begins_at <= \(moment)) AND (ends_at IS NULL OR ends_at > \(moment))
        UNION ALL
        SELECT user_id, collection, number, NULL FROM \(grants) AND revoked_at IS NULL
            AND (ends_at IS NULL OR ends_at > \(moment))
        """
    }

    private static func items(
        in rows: [SQLRow],
        seeing limit: AppLimit? = nil,
        _ origins: (Int64) -> Set<Origin>
    ) throws -> [Int64: [Item]] {
        var items: [Int64: Set<Item>] = [:]
        for row in rows {
            let (user, origin, item): (Int64, Origin?, Item) = (try row["user_id"], try row["origin"], try Item(row))
            guard origin.map({ origins(user).contains($0) }) ?? limit?.sees(item) ?? true else { continue }
            items[user, default: []].insert(item)
        }
        return items.mapValues { $0.sorted() }
    }

    /// The transactions that fulfil a condition, which the SQL of their order may follow.
    private func transactions(
        where condition: String,
        _ arguments: [any SQLConvertible]
    ) throws -> [RedeemedTransaction] {
        try database.rows("\(Self.transactions) WHERE \(condition)", arguments).map(Self.transaction)
    }

    /// The condition that a transaction has the type of a subscription, or has an end but no stated type.
    ///
    /// - Parameter type: The parameter of the type of subscriptions.
    static func isSubscribed(_ type: String) -> String {
        "(type = \(type) OR type IS NULL AND expires_at IS NOT NULL)"
    }

    /// The transactions older than a sequence number, newest first.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func transactions(
        of user: Int64,
        in app: Int64?,
        before sequence: Int64,
        limit: Int
    ) throws -> [RedeemedTransaction] {
        try transactions(
            where: """
                redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                    \(database.isIn(app, of: "redeemed_transaction"))
                ORDER BY redeemed_transaction.sequence DESC LIMIT $3
                """,
            [user, sequence, limit])
    }

    /// All transactions of users, in no order.
    func transactions(of users: Set<Int64>) throws -> [Int64: [RedeemedTransaction]] {
        guard !users.isEmpty else { return [:] }
        let rows = try database.rows(
            """
            \(Self.transactions)
            WHERE redeemed_transaction.user_id IN (SELECT listed.value FROM \(database.listed("$1")))
            """,
            [database.list(users.sorted())])
        var transactions: [Int64: [RedeemedTransaction]] = [:]
        for row in rows { transactions[try row["user_id"], default: []].append(try Self.transaction(row)) }
        return transactions
    }

    /// The items of users' transactions by the numbers of the transactions, including revoked ones.
    func boughtItems(of users: Set<Int64>) throws -> [Int64: [Int64: [Item]]] {
        guard !users.isEmpty else { return [:] }
        var items: [Int64: [Int64: [Item]]] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, sequence, collection, number
            FROM \(database.listed("$1")) JOIN entitlement ON user_id = listed.value
            """,
            [database.list(users.sorted())])
        for row in rows {
            items[try row["user_id"], default: [:]][try row["sequence"], default: []].append(try Item(row))
        }
        return items
    }

    /// The transactions of identifiers that a user has redeemed, in no order. There are several of one identifier if origins
    /// share it.
    func transactions(_ identifiers: [String], of user: Int64) throws -> [RedeemedTransaction] {
        try transactions(
            where: "redeemed_transaction.user_id = $1 AND transaction_id \(database.isIn("$2"))",
            [user, database.list(eachOf: identifiers)])
    }

    /// The columns of transactions, with the team's revocation in effect.
    static let transactions = """
        SELECT redeemed_transaction.user_id, redeemed_transaction.sequence, transaction_id, redeemed_transaction.origin, redeemed_transaction.app,
            redeemed_transaction.original_transaction_id, product_id, quantity, purchase_date, redeemed_at,
            revocation_date, revocation_reason, expires_at, grace_ends_at, revoked_at, revoked_by, reason AS team_reason,
            \(TransactionFacts.columnNames.joined(separator: ", ")),
            (SELECT bundle_id FROM app WHERE app.app = redeemed_transaction.app) AS bundle_id
        FROM redeemed_transaction LEFT JOIN team_revocation
        ON team_revocation.user_id = redeemed_transaction.user_id
            AND team_revocation.original_transaction_id = redeemed_transaction.original_transaction_id
            AND team_revocation.origin = redeemed_transaction.origin AND team_revocation.app = redeemed_transaction.app
            AND reinstated_at IS NULL
        """

    /// The transactions of a purchase of a user.
    func transactions(
        ofPurchase key: TransactionKey, _ apps: AppNumbers, of user: Int64
    ) throws -> [RedeemedTransaction] {
        try transactions(
            where: """
                redeemed_transaction.user_id = $1 AND redeemed_transaction.original_transaction_id = $2
                    AND redeemed_transaction.origin = $3 AND redeemed_transaction.app = $4
                """,
            [user] + key.sqlValues(apps))
    }

    /// The transactions with the type of a subscription, and those with an end but without a stated type.
    func subscribedTransactions(of user: Int64) throws -> [RedeemedTransaction] {
        try transactions(
            where: "redeemed_transaction.user_id = $1 AND \(Self.isSubscribed("$2"))",
            [user, ProductType.autoRenewableSubscription.rawValue])
    }

    /// The last statements about renewals, in the order of the purchases.
    func renewals(of user: Int64) throws -> [SubscribedPurchase] {
        try database.rows(
            "SELECT * FROM subscription WHERE user_id = $1 ORDER BY original_transaction_id, origin, app", [user]
        ).map(Self.renewal)
    }

    /// The same of users, in no order.
    func renewals(of users: Set<Int64>) throws -> [Int64: [SubscribedPurchase]] {
        guard !users.isEmpty else { return [:] }
        var renewals: [Int64: [SubscribedPurchase]] = [:]
        let rows = try database.rows(
            "SELECT subscription.* FROM \(database.listed("$1")) JOIN subscription ON user_id = listed.value",
            [database.list(users.sorted())])
        for row in rows { renewals[try row["user_id"], default: []].append(try Self.renewal(row)) }
        return renewals
    }

    private static func renewal(_ row: SQLRow) throws -> SubscribedPurchase {
        SubscribedPurchase(
            originalTransactionIdentifier: try row["original_transaction_id"], origin: try row["origin"],
            app: try row["app"],
            renewal: try StatedRenewal(row))
    }

    static func transaction(_ row: SQLRow) throws -> RedeemedTransaction {
        try RedeemedTransaction(
            row,
            revocationDate: try row["revocation_date"], revocationReason: try row["revocation_reason"],
            details: RedeemedTransaction.Details(
                app: try row["bundle_id"], appNumber: try row["app"], expiresAt: try row["expires_at"],
                graceEndsAt: try row["grace_ends_at"], revocation: try Revocation(row, reason: "team_reason"),
                facts: TransactionFacts(row)))
    }

    /// The newest transactions, and every older one with an effect on rights, newest first: the periods of subscriptions, and of
    /// each other product the valid transaction that lasts longest.
    ///
    /// - Parameters:
    ///   - app: The number of the app; nil for all apps.
    ///   - count: The number of the newest transactions.
    func transactions(of user: Int64, in app: Int64?, newest count: Int) throws -> [RedeemedTransaction] {
        let newest = try transactions(of: user, in: app, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        return newest
            + (try transactions(
                where: """
                    redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                        \(database.isIn(app, of: "redeemed_transaction")) AND (\(Self.isSubscribed("$3")) OR redeemed_transaction.sequence IN (
                            SELECT sequence FROM (
                                SELECT sequence, row_number() OVER (
                                    PARTITION BY product_id, origin, app
                                    ORDER BY (CASE WHEN expires_at IS NULL THEN 0 ELSE 1 END), expires_at DESC,
                                        sequence DESC) AS place
                                FROM redeemed_transaction AS bought
                                WHERE user_id = $1 AND sequence < $2 AND revocation_date IS NULL AND NOT EXISTS (
                                    SELECT 1 FROM team_revocation AS revoked
                                    WHERE revoked.user_id = bought.user_id AND revoked.origin = bought.origin
                                        AND revoked.original_transaction_id = bought.original_transaction_id
                                        AND revoked.app = bought.app AND reinstated_at IS NULL)) AS valid
                            WHERE place = 1))
                    ORDER BY redeemed_transaction.sequence DESC
                    """,
                [user, oldest.sequence, ProductType.autoRenewableSubscription.rawValue]))
    }

    /// The events about the renewal of subscriptions from some origins.
    func renewalEvents(of user: Int64, from origins: Set<Origin>) throws -> RenewalEvents {
        let names = [AuditEntry.Event.autoRenewDisabled, .renewalFailed, .gracePeriodBegan]
            .map { "'\($0.rawValue)'" }.joined(separator: ", ")
        var events = RenewalEvents()
        let rows = try database.rows(
            """
            SELECT event, reference, min(happened_at) AS earliest, max(happened_at) AS latest FROM audit
            WHERE user_id = $1 AND origin IN \(origins.sqlList) AND event IN (\(names)) GROUP BY event, reference
            """,
            [user])
        for row in rows {
            let (event, reference): (String, String) = (try row["event"], try row["reference"])
            let (earliest, latest): (Timestamp, Timestamp) = (try row["earliest"], try row["latest"])
            if event == AuditEntry.Event.autoRenewDisabled.rawValue {
                events.turnedOff[ByteKey(reference)] = latest
            } else {
                let known = events.chargeFailed[ByteKey(reference)] ?? earliest
                events.chargeFailed[ByteKey(reference)] = min(known, earliest)
            }
        }
        return events
    }
}
