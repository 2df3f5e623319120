import Catalog
import Ledger
import Proofs

/// The SQL that reads the items and transactions of users, inside the caller's transaction.
struct ReadingRecords {
    let database: any LedgerDatabase

    /// The items of a user at a moment, by purchases of some origins and by grants, each once, in order.
    func items(of user: Int64, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        try items(of: "$1", [user, moment], accepting: origins, at: "$2")
    }

    /// The items that a limited caller sees: by purchases of the app, and by grants of its items.
    func items(
        of user: Int64,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit,
        at moment: Timestamp
    ) throws -> [Item] {
        let sql = Self.items(
            entitlements: """
                entitlement WHERE user_id = $1 AND EXISTS (
                    SELECT 1 FROM redeemed_transaction AS redeemed
                    WHERE redeemed.user_id = $1 AND redeemed.sequence = entitlement.sequence
                        AND redeemed.app = (SELECT app FROM app WHERE bundle_id = $2))
                """,
            grants: "team_grant WHERE user_id = $1", at: "$3")
        let rows = try database.rows(sql, [user, limit.app, moment]).filter { row in
            let origin: Origin? = try row["origin"]
            return try origin != nil
                || limit.sees(Item(collection: try row["collection"], number: try row["number"]))
        }
        return try Self.items(in: rows) { _ in origins }[user] ?? []
    }

    /// The items by the user's name, in one query.
    func items(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        try items(
            of: "(SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2)", [user.name, user.issuer, moment],
            accepting: origins, at: "$3")
    }

    /// - Parameters:
    ///   - user: The SQL of the user's number.
    ///   - moment: The parameter of the moment.
    private func items(
        of user: String,
        _ arguments: [any SQLConvertible],
        accepting origins: Set<Origin>,
        at moment: String
    ) throws -> [Item] {
        let sql = Self.items(
            entitlements: "entitlement WHERE user_id = \(user)", grants: "team_grant WHERE user_id = \(user)",
            at: moment)
        return try Self.items(in: try database.rows(sql, arguments)) { _ in origins }.first?.value ?? []
    }

    /// The items of several users, each with the origins that are valid for the user.
    func items(of users: [Int64: Set<Origin>], at moment: Timestamp) throws -> [Int64: [Item]] {
        guard !users.isEmpty else { return [:] }
        let listed = database.listed("$1")
        let rows = try database.rows(
            Self.items(
                entitlements: "\(listed) JOIN entitlement ON user_id = listed.value WHERE true",
                grants: "\(listed) JOIN team_grant ON user_id = listed.value WHERE true", at: "$2"),
            [database.list(users.keys.sorted()), moment])
        return try Self.items(in: rows) { users[$0] ?? [] }
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
        _ origins: (Int64) -> Set<Origin>
    ) throws -> [Int64: [Item]] {
        var items: [Int64: Set<Item>] = [:]
        for row in rows {
            let (user, origin): (Int64, Origin?) = (try row["user_id"], try row["origin"])
            guard origin.map({ origins(user).contains($0) }) ?? true else { continue }
            items[user, default: []].insert(
                Item(collection: try row["collection"], number: try row["number"]))
        }
        return items.mapValues { $0.sorted() }
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
        try database.rows(
            """
            \(Self.transactions)
            WHERE redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2 \(Self.isIn(app, of: "redeemed_transaction"))
            ORDER BY redeemed_transaction.sequence DESC LIMIT $3
            """,
            [user, sequence, limit]
        ).map(Self.transaction)
    }

    /// The condition that a transaction has the type of a subscription, or has an end but no stated type.
    ///
    /// - Parameter type: The parameter of the type of subscriptions.
    static func isSubscribed(_ type: String) -> String {
        "(type = \(type) OR type IS NULL AND expires_at IS NOT NULL)"
    }

    /// The condition that a row is of an app.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    static func isIn(_ app: Int64?, of table: String) -> String {
        app.map { "AND \(table).app = \($0)" } ?? ""
    }

    /// All transactions of users, in no order.
    func transactions(of users: Set<Int64>) throws -> [Int64: [BoughtTransaction]] {
        guard !users.isEmpty else { return [:] }
        let rows = try database.rows(
            """
            \(Self.transactions)
            WHERE redeemed_transaction.user_id IN (SELECT listed.value FROM \(database.listed("$1")))
            """,
            [database.list(users.sorted())])
        var transactions: [Int64: [BoughtTransaction]] = [:]
        for row in rows {
            transactions[try row["user_id"], default: []].append(
                BoughtTransaction(app: try row["app"], transaction: try Self.transaction(row)))
        }
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
            items[try row["user_id"], default: [:]][try row["sequence"], default: []].append(
                Item(collection: try row["collection"], number: try row["number"]))
        }
        return items
    }

    /// The transactions of an identifier that a user has redeemed. There are several if origins share the identifier.
    func transactions(_ identifier: String, of user: Int64) throws -> [RedeemedTransaction] {
        try database.rows(
            "\(Self.transactions) WHERE redeemed_transaction.user_id = $1 AND transaction_id = $2", [user, identifier]
        ).map(Self.transaction)
    }

    /// The transactions of identifiers that a user has redeemed, in no order.
    func transactions(_ identifiers: [String], of user: Int64) throws -> [RedeemedTransaction] {
        try database.rows(
            """
            \(Self.transactions) WHERE redeemed_transaction.user_id = $1
                AND transaction_id \(database.isIn("$2"))
            """,
            [user, database.list(Set(identifiers.map { ByteKey($0) }).sorted().map(\.text))]
        ).map(Self.transaction)
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
    ///
    /// - Parameter app: The number of the app.
    func transactions(ofPurchase key: TransactionKey, app: Int64, of user: Int64) throws -> [RedeemedTransaction] {
        try database.rows(
            """
            \(Self.transactions) WHERE redeemed_transaction.user_id = $1
                AND redeemed_transaction.original_transaction_id = $2 AND redeemed_transaction.origin = $3
                AND redeemed_transaction.app = $4
            """,
            [user, key.identifier, key.origin, app]
        ).map(Self.transaction)
    }

    /// The transactions with the type of a subscription, and those with an end but without a stated type.
    ///
    /// - Returns: The transactions with the numbers of their apps.
    func subscribedTransactions(of user: Int64) throws -> [(app: Int64, transaction: RedeemedTransaction)] {
        try database.rows(
            """
            \(Self.transactions) WHERE redeemed_transaction.user_id = $1 AND \(Self.isSubscribed("$2"))
            """,
            [user, ProductType.autoRenewableSubscription.rawValue]
        ).map { (try $0["app"], try Self.transaction($0)) }
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
            renewal: StatedRenewal(
                statedAt: try row["stated_at"], proofDigest: try row["proof_digest"], facts: RenewalFacts(row)))
    }

    /// The customers, each with the last transaction of each origin.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func customers(after number: Int64, of origins: Set<Origin>, in app: Int64?, limit: Int) throws -> [Customer] {
        // The query uses the user's index, not the origin's, because nearly all rows have the same origin.
        let isOfOrigins = "coalesce(bought.origin, '') IN \(origins.sqlList) \(Self.isIn(app, of: "bought"))"
        return try database.rows(
            """
            SELECT * FROM (
                SELECT customer.user_id, issuer, name, transaction_id, row_number() OVER (
                    PARTITION BY customer.user_id, origin ORDER BY sequence DESC) AS age
                FROM (SELECT * FROM "user" WHERE user_id > $1 AND (
                        -- No EXISTS, for which PostgreSQL may read all transactions.
                        SELECT sequence FROM redeemed_transaction AS bought
                        WHERE bought.user_id = "user".user_id AND \(isOfOrigins) LIMIT 1) IS NOT NULL
                    ORDER BY user_id LIMIT $2) AS customer
                JOIN redeemed_transaction AS bought ON bought.user_id = customer.user_id AND \(isOfOrigins)) AS bought
            WHERE age = 1 ORDER BY user_id
            """,
            [number, limit]
        ).compactMap { row in
            try User(issuer: try row["issuer"], name: try row["name"]).map {
                Customer(number: try row["user_id"], user: $0, transactionIdentifier: try row["transaction_id"])
            }
        }
    }

    static func transaction(_ row: SQLRow) throws -> RedeemedTransaction {
        try RedeemedTransaction(
            row,
            revocationDate: try row["revocation_date"], revocationReason: try row["revocation_reason"],
            details: RedeemedTransaction.Details(
                app: try row["bundle_id"], expiresAt: try row["expires_at"],
                graceEndsAt: try row["grace_ends_at"], revocation: try Revocation(row, reason: "team_reason"),
                facts: TransactionFacts(row)))
    }
}

extension ReadingRecords {
    /// The newest transactions, and every older one with an effect on rights, newest first: the periods of subscriptions, and of
    /// each other product the valid transaction that lasts longest.
    ///
    /// - Parameters:
    ///   - app: The number of the app; nil for all apps.
    ///   - count: The number of the newest transactions.
    func transactions(of user: Int64, in app: Int64?, newest count: Int) throws -> [RedeemedTransaction] {
        let newest = try transactions(of: user, in: app, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        let type = ProductType.autoRenewableSubscription.rawValue
        return newest
            + (try database.rows(
                """
                \(Self.transactions)
                WHERE redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                    \(Self.isIn(app, of: "redeemed_transaction")) AND (\(Self.isSubscribed("$3")) OR redeemed_transaction.sequence IN (
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
                [user, oldest.sequence, type]
            ).map(Self.transaction))
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
