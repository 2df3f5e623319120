/// A transaction in the payment queue (SKPaymentTransaction).
public struct PaymentTransaction: Hashable, Sendable {
    /// The store's record of a paid or restored transaction. It is an immutable class, so a transaction stays narrow
    /// enough for the result of a throwing function (swiftlang/swift#90477).
    public final class Purchase: Hashable, Sendable {
        public let transactionIdentifier: String
        /// The first purchase of the same product. It is the transaction itself if it is the first.
        public let originalTransactionIdentifier: String
        public let purchaseDate: Timestamp
        public let originalPurchaseDate: Timestamp
        /// The charged price. It is 0 milliunits if the customer buys a non-consumable again.
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

    /// The store's number of the transaction, assigned when its payment is added (SKTestTransaction.identifier).
    public let identifier: Int64
    public let payment: Payment
    public let state: PaymentTransactionState
    /// The error of a failed transaction.
    public let error: SKErrorCode?
    /// The purchase of a purchased or restored transaction. It remains after the transaction is finished.
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
