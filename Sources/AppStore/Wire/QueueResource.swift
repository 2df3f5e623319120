/// A transaction of the payment queue.
package struct QueueResource: Codable, Sendable {
    package let number: Int64
    package let account: String
    package let productId: String
    package let quantity: Int
    package let state: String
    /// The name of the SKError. Nil if the payment has not failed.
    package var error: String?
    package var transactionId: String?
    package var originalTransactionId: String?
    /// The proof of a StoreKit 2 app (JWS).
    package var signedTransaction: String?
    /// The effect of the payment: `charged`, `alreadySubscribed` or `changes`. Nil if nothing was sold, and except in the answer to
    /// a purchase.
    package var effect: String?
    /// The charged price in milliunits of the currency. Nil for another effect.
    package var price: Int64?
    package var currency: String?
    /// The product after the next renewal. Nil unless the effect is `changes`.
    package var nextProductId: String?
    /// The date of the next renewal (RFC 3339, UTC). Nil unless the effect is `alreadySubscribed` or `changes`.
    package var renewalDate: String?
}
