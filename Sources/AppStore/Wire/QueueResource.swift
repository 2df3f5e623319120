/// A transaction of the payment queue.
public struct QueueResource: Codable, Sendable {
    public let number: Int64
    public let account: String
    public let productId: String
    public let quantity: Int
    public let state: String
    /// The name of the SKError. Nil if the payment has not failed.
    public let error: String?
    public let transactionId: String?
    public let originalTransactionId: String?
    /// The proof of a StoreKit 2 app (JWS).
    public let signedTransaction: String?
    /// The effect of the payment: `charged`, `alreadySubscribed` or `changes`. Nil if nothing was sold, and except in the answer to
    /// a purchase.
    public let effect: String?
    /// The charged price in milliunits of the currency. Nil for another effect.
    public let price: Int64?
    public let currency: String?
    /// The product after the next renewal. Nil unless the effect is `changes`.
    public let nextProductId: String?
    /// The date of the next renewal (RFC 3339, UTC). Nil unless the effect is `alreadySubscribed` or `changes`.
    public let renewalDate: String?

    public init(
        number: Int64,
        account: String,
        productId: String,
        quantity: Int,
        state: String,
        error: String? = nil,
        transactionId: String? = nil,
        originalTransactionId: String? = nil,
        signedTransaction: String? = nil,
        effect: String? = nil,
        price: Int64? = nil,
        currency: String? = nil,
        nextProductId: String? = nil,
        renewalDate: String? = nil
    ) {
        self.number = number
        self.account = account
        self.productId = productId
        self.quantity = quantity
        self.state = state
        self.error = error
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.signedTransaction = signedTransaction
        self.effect = effect
        self.price = price
        self.currency = currency
        self.nextProductId = nextProductId
        self.renewalDate = renewalDate
    }
}
