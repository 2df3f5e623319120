import Proofs

/// The content of a valid proof.
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
        /// The date of the revocation. Nil if the purchase is not revoked.
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
    /// The signing date. For an app receipt, the creation date.
    public let signedAt: String
    /// The purchases. Nil if this kind of proof contains none.
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
