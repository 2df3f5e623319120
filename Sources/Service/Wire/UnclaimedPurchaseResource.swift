import Proofs

/// A purchase that nobody has redeemed.
package struct UnclaimedPurchaseResource: Codable, Sendable {
    package let transactionId: String
    package let originalTransactionId: String
    package let origin: Origin
    /// The bundle identifier of the app.
    package let bundleId: String
    package let productId: String
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    /// The date of the last statement.
    package let statedAt: String
    package var revocationDate: String?
    /// An account token that no user has.
    package var appAccountToken: String?
    /// The item that the product grants.
    package var item: Item?
}
