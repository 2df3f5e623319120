import Ledger
import Proofs
import Vocabulary

/// A transaction that a user has redeemed, as the ledger stores it.
package struct RedeemedTransaction: Hashable, Sendable {
    /// The number among the user's transactions. Newer transactions have greater numbers.
    package let sequence: Int64
    package let origin: Origin
    package let transactionIdentifier: String
    package let originalTransactionIdentifier: String
    package let productIdentifier: String
    package let quantity: Int
    package let purchaseDate: Timestamp
    package let redeemedAt: Timestamp
    /// The date of the App Store's refund or revocation; nil if there was none.
    package let revocationDate: Timestamp?
    /// The reason in Apple's numbers (`revocationReason`); nil if none was stated.
    package let revocationReason: Int?
    /// The bundle identifier of the app that sold it; nil if it was not read.
    package var app: String? { details.first?.app }
    /// The same of a transaction about which a statement is made.
    var seller: String {
        get throws(BrokenInvariant) {
            guard let app else {
                throw BrokenInvariant("a transaction that is stated again is read with its app", transactionIdentifier)
            }
            return app
        }
    }
    /// The number of that app in the ledger; 0 if it was not read.
    package var appNumber: Int64 { details.first?.appNumber ?? 0 }
    /// The end of the purchased period by the App Store or the catalog; nil for none.
    package var expiresAt: Timestamp? { details.first?.expiresAt }
    /// The end of the grace period; nil if the App Store has stated none.
    package var graceEndsAt: Timestamp? { details.first?.graceEndsAt }
    /// The team's revocation; nil without one.
    package var revocation: Revocation? { details.first?.revocation }
    /// The other facts that the App Store has stated.
    package var facts: TransactionFacts { details.first?.facts ?? TransactionFacts() }
    /// Exactly one element. The array keeps the value small enough for throwing functions to return.
    let details: [Details]

    package init(
        sequence: Int64,
        origin: Origin,
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        productIdentifier: String,
        quantity: Int = 1,
        purchaseDate: Timestamp,
        redeemedAt: Timestamp,
        revocationDate: Timestamp? = nil,
        revocationReason: Int? = nil,
        app: String? = nil,
        appNumber: Int64 = 0,
        expiresAt: Timestamp? = nil,
        graceEndsAt: Timestamp? = nil,
        revocation: Revocation? = nil,
        facts: TransactionFacts = TransactionFacts()
    ) {
        self.sequence = sequence
        self.origin = origin
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.productIdentifier = productIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.redeemedAt = redeemedAt
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        details = [
            Details(
                app: app, appNumber: appNumber, expiresAt: expiresAt, graceEndsAt: graceEndsAt, revocation: revocation,
                facts: facts)
        ]
    }

    struct Details: Hashable, Sendable {
        var app: String?
        var appNumber: Int64 = 0
        var expiresAt: Timestamp?
        var graceEndsAt: Timestamp?
        var revocation: Revocation?
        var facts = TransactionFacts()
    }
}

/// The access that transactions of one purchase give.
extension RedeemedTransaction {
    private var isUpgraded: Bool { facts.bool(.isUpgraded) == true }

    /// True if this transaction comes first. Of two periods of the same millisecond, the upgraded one does.
    package func isEarlier(than other: RedeemedTransaction) -> Bool {
        guard purchaseDate == other.purchaseDate else { return purchaseDate < other.purchaseDate }
        return (isUpgraded ? 0 : 1, sequence) < (other.isUpgraded ? 0 : 1, other.sequence)
    }

    /// The next moment at which time alone may change which periods of its purchase count, and whether it gives access; nil if there is
    /// none.
    package func turningPoint(after moment: Timestamp) -> Timestamp? {
        var next: Timestamp?
        for change in [
            Coverage.beginning(of: purchaseDate, signedAt: facts.date(.signedDate)), expiresAt, graceEndsAt,
        ] {
            if let change, change > moment { next = min(next ?? change, change) }
        }
        return next
    }

    /// The end of the access that the transaction gives; nil for no end.
    ///
    /// - Parameter nextPurchaseDate: The purchase date of the next transaction of the same purchase; nil for its last one.
    package func accessEnd(before nextPurchaseDate: Timestamp?) -> Timestamp? {
        // The next charge ends a period and its grace period.
        let paid = [expiresAt, graceEndsAt].compactMap(\.self).max().map { min($0, nextPurchaseDate ?? $0) }
        return [paid, revocationDate, revocation?.revokedAt].compactMap(\.self).min()
    }

    /// The end of the access that the transaction gives; nil for no end.
    ///
    /// - Parameter transactions: The known transactions, also of other purchases.
    package func accessEnd(among transactions: [RedeemedTransaction]) -> Timestamp? {
        let periods = transactions.filter { other in
            other.origin == origin && other.app == app
                && other.originalTransactionIdentifier.hasSameBytes(as: originalTransactionIdentifier)
                && !PurchasePeriod.isVoid(from: other.purchaseDate, revokedAt: other.revocationDate)
        }.sorted { $0.isEarlier(than: $1) }
        var seats = SeatAdditions()
        let next = periods.filter { !seats.adds($0) }.first {
            $0.purchaseDate > purchaseDate || $0.purchaseDate == purchaseDate && isUpgraded && !$0.isUpgraded
        }
        return accessEnd(before: next?.purchaseDate)
    }
}

extension RedeemedTransaction {
    /// The type of the product, as `productType` of several transactions finds it.
    package func productType(inCatalog known: ProductType?) -> ProductType? {
        facts.productType ?? known ?? facts.date(.expiresDate).map { _ in .autoRenewableSubscription }
    }
}

extension [RedeemedTransaction] {
    /// The first transaction of each purchase: the newest one of a list with the newest first.
    package var newestOfPurchases: [RedeemedTransaction] {
        var known: Set<PurchaseOfUser> = []
        return filter { known.insert($0.purchase).inserted }
    }

    /// The type of the product of these transactions, as they state it, or else the catalog. An app receipt states no type, but the
    /// end of a subscription.
    ///
    /// - Parameter known: The type by the catalog; nil for an unknown product.
    /// - Returns: Nil if neither tells it.
    package func productType(inCatalog known: ProductType?) -> ProductType? {
        let stated = lazy.compactMap(\.facts.productType).first
        return stated ?? known ?? first { $0.facts.date(.expiresDate) != nil }.map { _ in .autoRenewableSubscription }
    }
}

extension EntitlementService {
    package func transactions(
        of user: User,
        in app: String? = nil,
        from store: PurchaseStore? = nil,
        before sequence: Int64?,
        limit: Int
    ) async throws -> [RedeemedTransaction] {
        try await ledger.read(mayLag: true) {
            try $0.transactions(of: user, in: limitingApp ?? app, from: store, before: sequence, limit: limit)
        }
    }

    package func transactions(of user: User, identifiedBy identifiers: [String]) async throws -> [RedeemedTransaction] {
        let limit = limit
        return try await ledger.read { try $0.transactions(of: user, identifiedBy: identifiers) }
            .filter { limit?.includes(app: $0.app) ?? true }
    }
}

extension LedgerTransaction {
    /// A user's redeemed transactions, newest first.
    ///
    /// - Parameters:
    ///   - app: The bundle identifier of an app, to return only its transactions; nil for all apps.
    ///   - store: The only store; nil for all stores.
    ///   - sequence: The number of the last transaction of the previous page; nil for the first page. Later redemptions do not
    ///     change the following pages.
    package func transactions(
        of user: User,
        in app: String? = nil,
        from store: PurchaseStore? = nil,
        before sequence: Int64?,
        limit: Int
    ) throws -> [RedeemedTransaction] {
        guard let user = try users.known(user), let app = try number(ofApp: app) else { return [] }
        return try ReadingRecords(database: database).transactions(
            of: user, in: app.number, from: store, before: sequence ?? .max, limit: limit)
    }

    /// A user's transactions of some identifiers, in no order.
    package func transactions(of user: User, identifiedBy identifiers: [String]) throws -> [RedeemedTransaction] {
        guard !identifiers.isEmpty, let user = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).transactions(identifiers, of: user)
    }

    /// Checks if anybody has redeemed a product.
    package func isRedeemed(_ productIdentifier: String) throws -> Bool {
        try database.hasRow("SELECT 1 FROM product WHERE product_id = $1", [productIdentifier])
    }
}
