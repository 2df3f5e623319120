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

    public init(
        number: Int64,
        account: String,
        productId: String,
        quantity: Int,
        state: String,
        error: String? = nil,
        transactionId: String? = nil,
        originalTransactionId: String? = nil,
        signedTransaction: String? = nil
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
    }
}
