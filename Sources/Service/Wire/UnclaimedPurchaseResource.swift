import Proofs

/// A purchase that nobody has redeemed.
public struct UnclaimedPurchaseResource: Codable, Sendable {
    public let transactionId: String
    public let originalTransactionId: String
    public let origin: Origin
    /// The bundle identifier of the app.
    public let bundleId: String
    public let productId: String
    /// Dates are RFC 3339, UTC.
    public let purchaseDate: String
    /// The date of the last statement.
    public let statedAt: String
    public let revocationDate: String?
    /// An account token that no user has.
    public let appAccountToken: String?
    /// The item that the product grants.
    public let item: Item?

    public init(
        transactionId: String,
        originalTransactionId: String,
        origin: Origin,
        bundleId: String,
        productId: String,
        purchaseDate: String,
        statedAt: String,
        revocationDate: String? = nil,
        appAccountToken: String? = nil,
        item: Item? = nil
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.bundleId = bundleId
        self.productId = productId
        self.purchaseDate = purchaseDate
        self.statedAt = statedAt
        self.revocationDate = revocationDate
        self.appAccountToken = appAccountToken
        self.item = item
    }
}
