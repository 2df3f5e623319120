import Catalog
import Ledger
import Proofs

/// An item that a user owns at a moment, with its period and its source.
package struct OwnedItem: Hashable, Sendable {
    /// The source of an item.
    package indirect enum Source: Hashable, Sendable {
        /// A purchase. If several give the item, the one that ends last.
        case purchase(RedeemedTransaction)
        /// A grant by the team.
        ///
        /// - identifier: The identifier of the grant.
        case grant(identifier: String)
        /// The catalog, which gives the item to everybody.
        case rule
    }

    package let item: Item
    package let source: Source
    package let state: PurchaseState
    /// The start of the current period of ownership without a gap; nil for an item that everybody owns.
    package let since: Timestamp?
    /// Nil for an item without an end.
    package let until: Timestamp?
    /// Nil if the App Store has not stated whether the subscription renews; false for an item that never renews.
    package let renews: Bool?

    package init(
        item: Item,
        source: Source,
        state: PurchaseState = .owned,
        since: Timestamp?,
        until: Timestamp? = nil,
        renews: Bool? = false
    ) {
        self.item = item
        self.source = source
        self.state = state
        self.since = since
        self.until = until
        self.renews = renews
    }

    /// The transaction that gives the item; nil if no purchase does.
    package var transaction: RedeemedTransaction? {
        if case .purchase(let transaction) = source { transaction } else { nil }
    }
}

/// The SQL that reads the items of users and their sources, inside the caller's transaction.
struct OwnedItemRecords {
    let database: any LedgerDatabase

    /// The coverage that is not revoked and began before a moment, or begins soon, in one query.
    ///
    /// - Parameters:
    ///   - item: The only item whose coverage is read; nil for all items.
    ///   - origins: The origins that are valid for the user.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    func coverage(
        of user: User,
        with item: Item? = nil,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil,
        until moment: Timestamp
    ) throws -> [ItemCoverage] {
        var arguments: [any SQLConvertible] = [user.name, user.issuer, moment.adding(days: Self.earlyDays)]
        if let item { arguments += [item.collection, item.number] as [any SQLConvertible] }
        if let limit { arguments.append(limit.app) }
        let sql: String =
            switch (item == nil, limit == nil) {
            case (true, true): Self.coverage
            case (true, false): Self.coverageInApp
            case (false, true): Self.coverageOfItem
            case (false, false): Self.coverageOfItemInApp
            }
        return try database.rows(sql, arguments).compactMap { row in
            let item = Item(collection: try row["collection"], number: try row["number"])
            if let grant: String = try row["grant_id"] {
                guard limit?.sees(item) ?? true else { return nil }
                return ItemCoverage(
                    item: item, beginsAt: try row["purchase_date"], endsAt: try row["ends_at"],
                    source: .grant(identifier: grant))
            }
            guard origins.contains(try row["origin"]) else { return nil }
            let transaction = try Self.transaction(row)
            return ItemCoverage(
                item: item, beginsAt: PurchasePeriod(transaction).ownedFrom, coversFrom: try row["begins_at"],
                endsAt: try row["ends_at"], source: .purchase(transaction), renewal: try Self.renewal(row))
        }
    }

    /// The longest time before its start in which a renewal is read, in days. The App Store signs it a day before.
    private static let earlyDays: Int64 = 31

    /// The facts that a state depends on.
    private static let transactionFacts = PurchasePeriod.Terms.facts
    private static let renewalFacts: [RenewalFact] = [
        .autoRenewStatus, .autoRenewProductId, .isInBillingRetryPeriod, .expirationIntent, .commitmentInfo,
    ]

    private static let coverage = coverage(where: "true")
    private static let coverageOfItem = coverage(where: ofItem)
    private static let coverageInApp = coverage(where: "true", app: "$4")
    private static let coverageOfItemInApp = coverage(where: ofItem, app: "$6")
    private static let ofItem = "collection = $4 AND number = $5"

    /// - Parameter app: The parameter of the bundle identifier of the purchases' app; nil for all apps.
    private static func coverage(where condition: String, app: String? = nil) -> String {
        let user = "(SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2)"
        let own = [
            "sequence", "transaction_id", "original_transaction_id", "product_id", "quantity", "redeemed_at",
            "expires_at", "grace_ends_at",
        ]
        let columns =
            (own + transactionFacts.map(\.field.column)).map { "redeemed." + $0 }
            + ["subscription.stated_at AS renewal_stated_at"] + renewalFacts.map { "subscription." + $0.field.column }
        return """
            SELECT collection, number, begins_at, ends_at, NULL AS grant_id, redeemed.purchase_date, entitlement.origin,
                \(columns.joined(separator: ", "))
            FROM entitlement JOIN redeemed_transaction AS redeemed USING (user_id, sequence)
                LEFT JOIN subscription ON subscription.user_id = redeemed.user_id
                    AND subscription.original_transaction_id = redeemed.original_transaction_id
                    AND subscription.origin = redeemed.origin AND subscription.app = redeemed.app
            WHERE entitlement.user_id = \(user) AND is_revoked = 0 AND (begins_at IS NULL OR begins_at <= $3)
                AND \(condition) \(app.map { "AND redeemed.app = (SELECT app FROM app WHERE bundle_id = \($0))" } ?? "")
            UNION ALL
            SELECT collection, number, NULL, ends_at, grant_id, granted_at, NULL, \(
                columns.map { _ in "NULL" }.joined(separator: ", "))
            FROM team_grant WHERE user_id = \(user) AND revoked_at IS NULL AND \(condition)
            """
    }

    private static func transaction(_ row: SQLRow) throws -> RedeemedTransaction {
        try RedeemedTransaction(
            row,
            details: RedeemedTransaction.Details(
                expiresAt: try row["expires_at"], graceEndsAt: try row["grace_ends_at"],
                facts: TransactionFacts(row, transactionFacts)))
    }

    private static func renewal(_ row: SQLRow) throws -> StatedRenewal? {
        guard let statedAt: Timestamp = try row["renewal_stated_at"] else { return nil }
        return StatedRenewal(statedAt: statedAt, proofDigest: [], facts: RenewalFacts(row, renewalFacts))
    }
}
