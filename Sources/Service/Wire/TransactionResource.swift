import Proofs

/// A redeemed transaction.
package struct TransactionResource: Codable, Sendable {
    /// The bundle identifier of the app that sold the product.
    package var bundleId: String?
    package let transactionId: String
    package let originalTransactionId: String
    package let productId: String
    package let quantity: Int
    package let origin: Origin
    /// Dates are RFC 3339, UTC.
    package let purchaseDate: String
    package let redeemedAt: String
    /// The end of the period. Nil if the purchase has no end.
    package var expiresDate: String?
    /// The date of the App Store's revocation. Nil if the purchase is not revoked.
    package var revocationDate: String?
    /// Apple's reason: 1 for a problem with the app, 0 for another reason. Nil without a reason.
    package var revocationReason: Int?
    /// The team's own revocation. Nil if there is none.
    package var revocation: RevocationResource?
    /// The facts that the App Store has stated, under its own names. Facts that it has not stated are absent.
    package let facts: [String: JSONContent]
}
