import Proofs

/// A transaction of an order that the App Store knows, and that nobody has redeemed here.
package struct UnrecordedTransactionResource: Codable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    package let bundleId: String
    package let productId: String
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    /// Nil if the App Store has not taken it back.
    package var revocationDate: String?
    package var appAccountToken: String?
}
