import Proofs

/// A transaction of an order that the App Store knows, and that nobody has redeemed here.
public struct UnrecordedTransactionResource: Codable, Sendable {
    public let transactionId: String
    public let originalTransactionId: String
    public let origin: Origin
    public let bundleId: String
    public let productId: String
    /// Dates are RFC 3339, UTC.
    public let purchaseDate: String
    /// Nil if the App Store has not taken it back.
    public let revocationDate: String?
    public let appAccountToken: String?

    public init(
        transactionId: String,
        originalTransactionId: String,
        origin: Origin,
        bundleId: String,
        productId: String,
        purchaseDate: String,
        revocationDate: String? = nil,
        appAccountToken: String? = nil
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.bundleId = bundleId
        self.productId = productId
        self.purchaseDate = purchaseDate
        self.revocationDate = revocationDate
        self.appAccountToken = appAccountToken
    }
}
