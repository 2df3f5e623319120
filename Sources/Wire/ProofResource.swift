import Commerce

/// The content of a valid proof, as the service and the command line show it.
public struct ProofResource: Codable, Sendable {
    /// The kind of a proof.
    public enum Kind: String, Codable, Sendable {
        case appReceipt, transaction, renewalInfo, notification, appTransaction
    }

    /// A purchase in a proof.
    public struct Purchase: Codable, Sendable {
        public let productId: String
        public let transactionId: String
        public let originalTransactionId: String
        public let quantity: Int
        /// Dates are RFC 3339, UTC.
        public let purchaseDate: String
        /// Nil for a purchase that is not revoked.
        public let revocationDate: String?

        public init(
            productId: String,
            transactionId: String,
            originalTransactionId: String,
            quantity: Int,
            purchaseDate: String,
            revocationDate: String? = nil
        ) {
            self.productId = productId
            self.transactionId = transactionId
            self.originalTransactionId = originalTransactionId
            self.quantity = quantity
            self.purchaseDate = purchaseDate
            self.revocationDate = revocationDate
        }
    }

    public let kind: Kind
    public let origin: Origin
    public let environment: AppStoreEnvironment
    public let bundleId: String?
    /// The date of the signature; of an app receipt, the creation date.
    public let signedAt: String
    /// Nil for a proof that is no purchase.
    public let purchases: [Purchase]?

    public init(
        kind: Kind,
        origin: Origin,
        environment: AppStoreEnvironment,
        bundleId: String? = nil,
        signedAt: String,
        purchases: [Purchase]? = nil
    ) {
        self.kind = kind
        self.origin = origin
        self.environment = environment
        self.bundleId = bundleId
        self.signedAt = signedAt
        self.purchases = purchases
    }
}
