import Commerce

/// The purchase that a verified signed transaction states, with what the ledger knows of it.
public struct VerifiedPurchase: Hashable, Sendable {
    public let environment: AppStoreEnvironment
    public let productIdentifier: String
    /// Nil if neither the App Store nor the catalog states it.
    public let type: ProductType?
    /// The end by the proof, the catalog or the ledger, whichever is the latest; nil for a purchase without an end.
    public let expiresAt: Timestamp?
    /// True if the proof, a notification or the team has revoked the transaction.
    public let isRevoked: Bool
    /// True if a user has redeemed the transaction.
    public let isRedeemed: Bool
    /// True if the ledger's latest period of the purchase is of the same product, and its user owns it.
    public let isOwned: Bool

    package init(
        environment: AppStoreEnvironment = .sandbox,
        productIdentifier: String,
        type: ProductType?,
        expiresAt: Timestamp? = nil,
        isRevoked: Bool = false,
        isRedeemed: Bool = false,
        isOwned: Bool = false
    ) {
        self.environment = environment
        self.productIdentifier = productIdentifier
        self.type = type
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
        self.isRedeemed = isRedeemed
        self.isOwned = isOwned
    }
}
