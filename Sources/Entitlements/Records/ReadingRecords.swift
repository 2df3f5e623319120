import Catalog
import Ledger
import Proofs
import Vocabulary

/// The SQL that reads the items and transactions of users by their numbers, inside the caller's transaction.
package struct ReadingRecords {
    let database: any LedgerDatabase

    package init(database: any LedgerDatabase) { self.database = database }

    /// The items of several users at a moment, by purchases of origins and by grants, each once, in order.
    ///
    /// - Parameters:
    ///   - users: The origins that are valid for each user.
    ///   - limit: The limit of the caller, who sees the purchases of the app and the grants of its items; nil for a caller of all
    ///     apps.
    package func items(
        of users: [Int64: Set<Origin>],
        seeing limit: AppLimit? = nil,
        at moment: Timestamp
    ) throws -> [Int64: [Item]] {
        guard !users.isEmpty else { return [:] }
        let ofApp = limit == nil ? "" : "AND app = (SELECT app FROM app WHERE bundle_id = $2)"
        let (isUsers, now) = ("user_id \(database.isIn(numbers: "$1"))", limit == nil ? "$2" : "$3")
        var items: [Int64: Set<Item>] = [:]
        try database.forEachRow(
            """
            SELECT user_id, origin, collection, number FROM redeemed_transaction
            WHERE \(isUsers) AND is_revoked = 0 AND collection IS NOT NULL \(ofApp)
                AND (begins_at IS NULL OR begins_at <= \(now)) AND (ends_at IS NULL OR ends_at > \(now))
            UNION ALL
            SELECT user_id, NULL, collection, number FROM team_grant
            WHERE \(isUsers) AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > \(now))
            """,
            [database.list(users.keys.sorted())] + (limit.map { [$0.app] } ?? []) + [moment]
        ) { row in
            let (user, origin): (Int64, Origin?) = (try row.next(), try row.next())
            let item = try Item(&row)
            guard origin.map({ users[user]?.contains($0) ?? false }) ?? limit?.sees(item) ?? true else { return }
            items[user, default: []].insert(item)
        }
        return items.mapValues { $0.sorted() }
    }

    /// The condition that a transaction has the type of a subscription, or has an end but no stated type.
    ///
    /// - Parameter type: The parameter of the type of subscriptions.
    private static func isSubscribed(_ type: String) -> String {
        "(type = \(type) OR type IS NULL AND expires_at IS NOT NULL)"
    }

    private static let typeOfSubscriptions = TransactionFact.type.storedText(
        ProductType.autoRenewableSubscription.rawValue)

    private func transactions(
        _ statement: TransactionStatement,
        _ arguments: [any SQLConvertible]
    ) throws -> [RedeemedTransaction] {
        try database.rows(statement.text, arguments) { try statement.transaction(&$0) }
    }

    /// The transactions older than a sequence number, newest first.
    ///
    /// - Parameters:
    ///   - app: The number of the app; nil for all apps.
    ///   - store: The only store; nil for all stores.
    package func transactions(
        of user: Int64,
        in app: Int64?,
        from store: PurchaseStore? = nil,
        before sequence: Int64,
        limit: Int
    ) throws -> [RedeemedTransaction] {
        let statement = store.map { Self.older(stating: TransactionFact.allCases, from: $0) } ?? Self.older
        return try transactions(statement, [user, sequence, app, limit])
    }

    private static let older = older(stating: TransactionFact.allCases)

    private static func older(
        stating facts: [TransactionFact], from store: PurchaseStore? = nil, namesApps: Bool = true
    ) -> TransactionStatement {
        let isOfStore = store.map { " AND \(Origin.condition(of: $0, on: "redeemed_transaction.origin"))" }
        return TransactionStatement(
            facts, namesApps: namesApps,
            where: """
                redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                    AND (redeemed_transaction.app = $3 OR $3 IS NULL)\(isOfStore ?? "")
                ORDER BY redeemed_transaction.sequence DESC LIMIT $4
                """)
    }

    /// All transactions of users, in no order.
    ///
    /// - Parameter facts: The facts that are read. The others are absent.
    package func transactions(
        of users: Set<Int64>,
        stating facts: [TransactionFact] = TransactionFact.allCases
    ) throws -> [Int64: [RedeemedTransaction]] {
        guard !users.isEmpty else { return [:] }
        let statement = TransactionStatement(
            facts, where: "redeemed_transaction.user_id \(database.isIn(numbers: "$1"))")
        var transactions: [Int64: [RedeemedTransaction]] = [:]
        try database.forEachRow(statement.text, [database.list(users.sorted())]) { row in
            let (transaction, user): (RedeemedTransaction, Int64) = (try statement.transaction(&row), try row.next())
            transactions[user, default: []].append(transaction)
        }
        return transactions
    }

    /// The items of users' transactions by the numbers of the transactions, including revoked ones.
    package func boughtItems(of users: Set<Int64>) throws -> [Int64: [Int64: [Item]]] {
        guard !users.isEmpty else { return [:] }
        var items: [Int64: [Int64: [Item]]] = [:]
        try database.forEachRow(
            """
            SELECT user_id, sequence, collection, number FROM redeemed_transaction
            WHERE user_id \(database.isIn(numbers: "$1")) AND collection IS NOT NULL
            """,
            [database.list(users.sorted())]
        ) { row in
            let (user, sequence): (Int64, Int64) = (try row.next(), try row.next())
            items[user, default: [:]][sequence, default: []].append(try Item(&row))
        }
        return items
    }

    /// The transactions of identifiers that a user has redeemed, in no order. There are several of one identifier if origins
    /// share it.
    package func transactions(_ identifiers: [String], of user: Int64) throws -> [RedeemedTransaction] {
        try transactions(
            TransactionStatement(
                where: "redeemed_transaction.user_id = $1 AND transaction_id \(database.isIn(packed: "$2"))"),
            [user, database.list(eachPacked: identifiers)])
    }

    package func transactions(
        ofPurchase key: TransactionKey, _ apps: AppNumbers, of user: Int64
    ) throws -> [RedeemedTransaction] {
        try transactions(Self.ofPurchase, [user] + key.sqlValues(apps))
    }

    private static let ofPurchase = TransactionStatement(
        where: """
            redeemed_transaction.user_id = $1 AND redeemed_transaction.original_transaction_id = $2
                AND redeemed_transaction.origin = $3 AND redeemed_transaction.app = $4
            """)

    /// The transactions with the type of a subscription, and those with an end but without a stated type. They have only the
    /// facts that a status depends on.
    func subscribedTransactions(of user: Int64) throws -> [RedeemedTransaction] {
        try transactions(Self.subscribed, [user, Self.typeOfSubscriptions])
    }

    private static let subscribed = TransactionStatement(
        PurchasePeriod.Terms.facts, where: "redeemed_transaction.user_id = $1 AND \(isSubscribed("$2"))")

    /// The last statements about renewals, in the order of the purchases.
    package func renewals(of user: Int64) throws -> [SubscribedPurchase] {
        try database.rows(Self.renewals(of: user), SubscribedPurchase.init)
    }

    package static func renewals(of user: Int64) -> SQLQuery { SQLQuery(renewalsOfUser, [user]) }

    private static let renewalsOfUser = """
        SELECT \(SubscribedPurchase.columns) FROM subscription WHERE user_id = $1
        ORDER BY original_transaction_id, origin, app
        """

    /// The same of users, in no order.
    package func renewals(of users: Set<Int64>) throws -> [Int64: [SubscribedPurchase]] {
        guard !users.isEmpty else { return [:] }
        var renewals: [Int64: [SubscribedPurchase]] = [:]
        try database.forEachRow(
            """
            SELECT user_id, \(SubscribedPurchase.columns) FROM subscription
            WHERE user_id \(database.isIn(numbers: "$1"))
            """,
            [database.list(users.sorted())]
        ) { row in
            let (user, purchase): (Int64, SubscribedPurchase) = (try row.next(), try SubscribedPurchase(&row))
            renewals[user, default: []].append(purchase)
        }
        return renewals
    }

    /// The newest transactions, and every older one with an effect on rights, newest first: the periods of subscriptions, and of
    /// each other product the valid transaction that lasts longest.
    ///
    /// They have only the facts of `CustomerHistory.facts`.
    ///
    /// - Parameters:
    ///   - app: The number of the app; nil for all apps.
    ///   - count: The number of the newest transactions.
    ///   - apps: The bundle identifiers of all apps, by their numbers.
    package func transactions(
        of user: Int64, in app: Int64?, newest count: Int, _ apps: [Int64: String]
    ) throws -> [RedeemedTransaction] {
        let newest = try database.rows(Self.newest(count, of: user, in: app)) {
            try Self.newest.transaction(&$0, of: apps)
        }
        guard newest.count == count, let oldest = newest.last else { return newest }
        return try newest
            + database.rows(
                Self.olderWithEffect.text,
                [user, oldest.sequence, app, Self.typeOfSubscriptions]
            ) { try Self.olderWithEffect.transaction(&$0, of: apps) }
    }

    static func newest(_ count: Int, of user: Int64, in app: Int64?) -> SQLQuery {
        SQLQuery(newest.text, [user, Int64.max, app, count])
    }

    private static let newest = older(stating: CustomerHistory.facts, namesApps: false)
    private static let olderWithEffect = TransactionStatement(
        CustomerHistory.facts, namesApps: false,
        where: """
            redeemed_transaction.user_id = $1 AND redeemed_transaction.sequence < $2
                AND (redeemed_transaction.app = $3 OR $3 IS NULL)
                AND (\(isSubscribed("$4")) OR redeemed_transaction.sequence IN (
                SELECT sequence FROM (
                    SELECT sequence, row_number() OVER (
                        PARTITION BY product, origin, app
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
            """)

    /// The first moments at which a charge of subscriptions from some origins failed, by the latest transaction of each at that time.
    func failedCharges(of user: Int64, from origins: Set<Origin>) throws -> [ByteKey: Timestamp] {
        try database.dictionary(
            """
            SELECT reference, min(happened_at) FROM audit
            WHERE user_id = $1 AND origin IN \(origins.sqlList) AND event IN \(Self.failuresOfCharges)
            GROUP BY reference
            """,
            [user]
        ) { row in (ByteKey(try row.next()), try row.next()) }
    }

    private static let failuresOfCharges = [AuditEntry.Event.renewalFailed, .gracePeriodBegan].sqlList
}

/// A statement that reads transactions, each with the team's revocation in effect, and its rows.
struct TransactionStatement {
    let text: String
    private let facts: [TransactionFact]

    /// - Parameters:
    ///   - facts: The facts that are read. The others are absent.
    ///   - namesApps: False if the reader has the bundle identifiers of the apps already.
    ///   - condition: The SQL of a condition, which the SQL of an order may follow.
    init(
        _ facts: [TransactionFact] = TransactionFact.allCases, namesApps: Bool = true, where condition: String
    ) {
        self.facts = facts
        let app = namesApps ? "(SELECT bundle_id FROM app WHERE app.app = redeemed_transaction.app)" : "NULL"
        text = """
            SELECT redeemed_transaction.sequence, redeemed_transaction.origin, transaction_id,
                redeemed_transaction.original_transaction_id, product_id, quantity, purchase_date, redeemed_at,
                revocation_date, revocation_reason,
                \(app), redeemed_transaction.app,
                expires_at, grace_ends_at, revoked_at, reason, revoked_by,
                \(facts.map(\.field.column).joined(separator: ", ")), redeemed_transaction.user_id
            FROM redeemed_transaction \(ProductRecords.join(to: "redeemed_transaction")) LEFT JOIN team_revocation
            ON team_revocation.user_id = redeemed_transaction.user_id
                AND team_revocation.original_transaction_id = redeemed_transaction.original_transaction_id
                AND team_revocation.origin = redeemed_transaction.origin AND team_revocation.app = redeemed_transaction.app
                AND reinstated_at IS NULL
            WHERE \(condition)
            """
    }

    /// The transaction of a row. The number of its user is in the next column.
    ///
    /// - Parameter apps: The bundle identifiers by the numbers of the apps, for a statement that names no apps.
    func transaction(_ row: inout ResultRow, of apps: [Int64: String] = [:]) throws -> RedeemedTransaction {
        let (sequence, origin): (Int64, Origin) = (try row.next(), try row.next())
        let identifier: String = try row.next()
        let original = try row.next(sharing: identifier)
        let (product, quantity): (String, Int) = (try row.next(in: ProductRecords.identifiers), try row.next())
        let (purchaseDate, redeemedAt): (Timestamp, Timestamp) = (try row.next(), try row.next())
        let (revocationDate, revocationReason): (Timestamp?, Int?) = (try row.next(), try row.next())
        let (app, appNumber): (String?, Int64) = (try row.next(), try row.next())
        return RedeemedTransaction(
            sequence: sequence, origin: origin, transactionIdentifier: identifier,
            originalTransactionIdentifier: original, productIdentifier: product, quantity: quantity,
            purchaseDate: purchaseDate, redeemedAt: redeemedAt, revocationDate: revocationDate,
            revocationReason: revocationReason, app: app ?? apps[appNumber], appNumber: appNumber,
            expiresAt: try row.next(), graceEndsAt: try row.next(), revocation: try Revocation(&row),
            facts: try TransactionFacts(&row, facts))
    }
}
