/// A transaction as the payment queue shows it to the app (SKPaymentTransaction).
public struct PaymentTransaction: Hashable, Sendable {
    /// What the store knows of a transaction once money, or a restored claim, stands behind it. An immutable class, so that
    /// a transaction stays narrow enough to be returned by functions that throw (swiftlang/swift#90477).
    public final class Purchase: Hashable, Sendable {
        public let transactionIdentifier: String
        /// The first purchase of the same product; the transaction itself when it is the first.
        public let originalTransactionIdentifier: String
        public let purchaseDate: Timestamp
        public let originalPurchaseDate: Timestamp
        /// What was charged; 0 milliunits when a non-consumable is bought again.
        public let price: Price

        public init(
            transactionIdentifier: String,
            originalTransactionIdentifier: String,
            purchaseDate: Timestamp,
            originalPurchaseDate: Timestamp,
            price: Price
        ) {
            self.transactionIdentifier = transactionIdentifier
            self.originalTransactionIdentifier = originalTransactionIdentifier
            self.purchaseDate = purchaseDate
            self.originalPurchaseDate = originalPurchaseDate
            self.price = price
        }

        public static func == (left: Purchase, right: Purchase) -> Bool {
            left.transactionIdentifier == right.transactionIdentifier
                && left.originalTransactionIdentifier == right.originalTransactionIdentifier
                && left.purchaseDate == right.purchaseDate
                && left.originalPurchaseDate == right.originalPurchaseDate && left.price == right.price
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(transactionIdentifier) }
    }

    /// The store's number for the transaction, from the moment its payment is added (SKTestTransaction.identifier).
    public let identifier: Int64
    public let payment: Payment
    public let state: PaymentTransactionState
    /// Set when the transaction failed.
    public let error: SKErrorCode?
    /// Set when the transaction is purchased or restored, and stays when it is finished.
    public let purchase: Purchase?

    public init(
        identifier: Int64,
        payment: Payment,
        state: PaymentTransactionState,
        error: SKErrorCode?,
        purchase: Purchase?
    ) {
        self.identifier = identifier
        self.payment = payment
        self.state = state
        self.error = error
        self.purchase = purchase
    }
}
