import Proofs

/// A redeemed transaction.
public struct TransactionResource: Codable, Sendable {
    /// The bundle identifier of the app that sold the product.
    public let bundleId: String?
    public let transactionId: String
    public let originalTransactionId: String
    public let productId: String
    public let quantity: Int
    public let origin: Origin
    /// Dates are RFC 3339, UTC.
    public let purchaseDate: String
    public let redeemedAt: String
    /// The end of the period. Nil if the purchase has no end.
    public let expiresDate: String?
    /// The date of the App Store's revocation. Nil if the purchase is not revoked.
    public let revocationDate: String?
    /// Apple's reason: 1 for a problem with the app, 0 for another reason. Nil without a reason.
    public let revocationReason: Int?
    /// The team's own revocation. Nil if there is none.
    public let revocation: RevocationResource?
    /// The facts that the App Store has stated, under its own names. Facts that it has not stated are absent.
    public let facts: [String: JSONContent]

    public init(
        bundleId: String? = nil,
        transactionId: String,
        originalTransactionId: String,
        productId: String,
        quantity: Int,
        origin: Origin,
        purchaseDate: String,
        redeemedAt: String,
        expiresDate: String? = nil,
        revocationDate: String? = nil,
        revocationReason: Int? = nil,
        revocation: RevocationResource? = nil,
        facts: [String: JSONContent]
    ) {
        self.bundleId = bundleId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.productId = productId
        self.quantity = quantity
        self.origin = origin
        self.purchaseDate = purchaseDate
        self.redeemedAt = redeemedAt
        self.expiresDate = expiresDate
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.revocation = revocation
        self.facts = facts
    }
}
