import Proofs

/// A transaction with the facts for the figures.
struct FigureTransaction {
    /// The largest plausible price, in milliunits: a billion units of the currency.
    private static let maximumPrice: Int64 = 1_000_000_000_000

    let subject: FigureSubject
    let identifier: ByteKey
    let original: ByteKey
    let quantity: Int
    let purchaseDate: Timestamp
    let isTrial: Bool
    /// True if the transaction is not the only one of its period, because the customer has added seats.
    let isAdditional: Bool
    /// True if a subscription of a higher level took the place of the period.
    let isUpgraded: Bool
    /// The price of the quantity, or of all seats. Nil if the App Store has stated no price, or no currency.
    let price: Price?
    /// The end of the paid time; nil for a purchase that is not an auto-renewable subscription.
    let expiresAt: Timestamp?
    /// The end of the grace period after it; nil if there is none.
    let graceEndsAt: Timestamp?
    /// The date of the refund; nil without one.
    var refundedAt: Timestamp?
    /// The refunded amount, in milliunits; nil if the App Store has not stated it.
    let refundedAmount: Int64?

    /// - Returns: Nil for a transaction that another customer has paid for.
    init?(_ bought: BoughtTransaction) {
        let (transaction, facts) = (bought.transaction, bought.transaction.facts)
        let terms = PurchasePeriod.Terms(facts)
        guard !terms.isPaidByAnother else { return nil }
        subject = FigureSubject(
            app: bought.app, origin: transaction.origin, product: transaction.productIdentifier,
            storefront: facts.text(.storefront))
        identifier = ByteKey(transaction.transactionIdentifier)
        original = ByteKey(transaction.originalTransactionIdentifier)
        quantity = transaction.quantity
        isTrial = terms.isTrial
        isAdditional = terms.isAdditional
        isUpgraded = terms.isUpgraded
        let price = transaction.paidAmount.flatMap { (0..<Self.maximumPrice).contains($0) ? $0 : nil }
        let currency = facts.text(.currency).flatMap(FigureSubject.code)
        self.price = price.flatMap { price in currency.map { Price(milliunits: price, currency: $0.text) } }
        let isSubscription = transaction.isSubscription
        let expiresAt = isSubscription ? transaction.paidUntil : nil
        self.expiresAt = expiresAt.map(Self.bounded)
        graceEndsAt = isSubscription ? transaction.graceEndsAt.map(Self.bounded) : nil
        // A restored purchase has another identifier, and the purchase date of its original.
        let isRestored = expiresAt == nil && identifier != original
        purchaseDate = Self.bounded(
            (isRestored ? facts.date(.originalPurchaseDate) : nil) ?? transaction.purchaseDate)
        let isRefund = facts.text(.revocationType) != RevocationType.familyRevoke.rawValue
        refundedAt = isRefund ? transaction.revocationDate.map(Self.bounded) : nil
        let isProrated = facts.text(.revocationType) == RevocationType.refundProrated.rawValue
        refundedAmount = self.price.flatMap { price in
            transaction.refunded(of: price.milliunits) ?? (isProrated ? nil : price.milliunits)
        }
    }

    /// Limits a date to the years from 1970 to 9999, which a calendar day supports.
    private static func bounded(_ date: Timestamp) -> Timestamp {
        min(max(date, Timestamp(secondsSince1970: 0)), Timestamp(secondsSince1970: 253_402_214_400))
    }
}

/// The order by date, then by identifier.
extension FigureTransaction: Comparable {
    static func == (left: FigureTransaction, right: FigureTransaction) -> Bool {
        left.purchaseDate == right.purchaseDate && left.identifier == right.identifier
    }

    static func < (left: FigureTransaction, right: FigureTransaction) -> Bool {
        left.purchaseDate != right.purchaseDate
            ? left.purchaseDate < right.purchaseDate : left.identifier < right.identifier
    }
}
