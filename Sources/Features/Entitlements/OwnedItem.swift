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

extension EntitlementService {
    /// The items of a user, including those that everybody owns, in order.
    package func items(of user: User) async throws -> [OwnedItem] {
        let view = view
        return try await ledger.read(.statement) { try $0.ownedItems(of: user, from: view) }
    }

    /// The items of a user without their sources, except those that everybody owns, in order.
    package func ownItems(of user: User) async throws -> [Item] {
        try await ledger.read(.statement) {
            try $0.items(of: user, accepting: accepted.origins(for: user), at: clock.now())
        }
    }
}

extension LedgerTransaction {
    /// The items of a user at a moment, by redeemed transactions of some origins and by grants, each once, in order.
    package func items(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        try ReadingRecords(database: database).items(of: user, accepting: origins, at: moment)
    }

    /// The items of a user, with their periods and sources, each once, in order.
    package func ownedItems(of user: User, from view: Viewpoint) throws -> [OwnedItem] {
        OwnedItem.all(
            by: try coverage(of: user, from: view), owningBesides: view.free, at: view.moment, type: view.type)
    }

    /// The coverage that is not revoked and has begun, or begins soon, in one query.
    ///
    /// - Parameter item: The only item whose coverage is read; nil for all items.
    func coverage(of user: User, with item: Item? = nil, from view: Viewpoint) throws -> [ItemCoverage] {
        let (origins, limit) = (view.accepted.origins(for: user), view.limit)
        var arguments: [any SQLConvertible] = [
            user.name, user.issuer, view.moment.adding(days: CoverageStatement.earlyDays),
        ]
        if let item { arguments += [item.collection, item.number] as [any SQLConvertible] }
        if let limit { arguments.append(limit.app) }
        var coverage: [ItemCoverage] = []
        try database.forEachRow(CoverageStatement.text(ofItem: item != nil, inApp: limit != nil), arguments) { row in
            if let next = try CoverageStatement.coverage(&row, of: origins, from: view) { coverage.append(next) }
        }
        return coverage
    }
}

/// The SQL that reads the coverage of a user's items with their sources, and its rows.
private enum CoverageStatement {
    /// The longest time before its start in which a renewal is read, in days. The App Store signs it a day before.
    static let earlyDays: Int64 = 31

    /// The facts that a state depends on.
    private static let transactionFacts = PurchasePeriod.Terms.facts
    private static let renewalFacts: [RenewalFact] = [
        .autoRenewStatus, .autoRenewProductId, .isInBillingRetryPeriod, .expirationIntent, .commitmentInfo,
    ]

    /// The columns that a purchase alone has, before the facts.
    private static let purchaseColumns = [
        "sequence", "transaction_id", "original_transaction_id", "product_id", "quantity", "redeemed_at", "expires_at",
        "grace_ends_at",
    ]

    private static let all = text(where: "true")
    private static let ofItem = text(where: isItem)
    private static let inApp = text(where: "true", app: "$4")
    private static let ofItemInApp = text(where: isItem, app: "$6")
    private static let isItem = "collection = $4 AND number = $5"

    static func text(ofItem isOfItem: Bool, inApp isInApp: Bool) -> String {
        isOfItem ? isInApp ? ofItemInApp : ofItem : isInApp ? inApp : all
    }

    /// - Parameter app: The parameter of the bundle identifier of the purchases' app; nil for all apps.
    private static func text(where condition: String, app: String? = nil) -> String {
        let user = "(SELECT user_id FROM user_name WHERE name = $1 AND issuer = $2)"
        let columns =
            (purchaseColumns + transactionFacts.map(\.field.column)).map { "redeemed." + $0 }
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

    /// The coverage of a row; nil for a purchase from an origin that does not count, and for a grant that the caller does not see.
    static func coverage(
        _ row: inout ResultRow, of origins: Set<Origin>, from view: Viewpoint
    ) throws -> ItemCoverage? {
        let item = try Item(&row)
        let (coversFrom, endsAt): (Timestamp?, Timestamp?) = (try row.next(), try row.next())
        let (grant, date): (String?, Timestamp) = (try row.next(), try row.next())
        if let grant {
            guard view.sees(item) else { return nil }
            return ItemCoverage(item: item, beginsAt: date, endsAt: endsAt, source: .grant(identifier: grant))
        }
        let origin: Origin = try row.next()
        guard origins.contains(origin) else { return nil }
        let transaction = try transaction(&row, from: origin, purchasedAt: date)
        return ItemCoverage(
            item: item, beginsAt: PurchasePeriod(transaction).ownedFrom, coversFrom: coversFrom,
            endsAt: endsAt, source: .purchase(transaction), renewal: try renewal(&row))
    }

    private static func transaction(
        _ row: inout ResultRow, from origin: Origin, purchasedAt purchaseDate: Timestamp
    ) throws -> RedeemedTransaction {
        RedeemedTransaction(
            sequence: try row.next(), origin: origin, transactionIdentifier: try row.next(),
            originalTransactionIdentifier: try row.next(), productIdentifier: try row.next(),
            quantity: try row.next(), purchaseDate: purchaseDate, redeemedAt: try row.next(),
            expiresAt: try row.next(), graceEndsAt: try row.next(),
            facts: try TransactionFacts(&row, transactionFacts))
    }

    private static func renewal(_ row: inout ResultRow) throws -> StatedRenewal? {
        guard let statedAt: Timestamp = try row.next() else { return nil }
        return StatedRenewal(statedAt: statedAt, proofDigest: [], facts: try RenewalFacts(&row, renewalFacts))
    }
}
