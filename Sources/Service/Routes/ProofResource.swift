import Commerce
import HTTPSupport
import Receipts

/// What a valid proof says, as the service and the command line show it.
public struct ProofResource: Codable, Sendable {
    /// What kind of proof it is.
    public enum Kind: String, Codable, Sendable {
        case appReceipt, transaction, renewalInfo, notification, appTransaction
    }

    /// A purchase that a proof holds.
    public struct Purchase: Codable, Sendable {
        public let productId: String
        public let transactionId: String
        public let originalTransactionId: String
        public let quantity: Int
        /// Dates are RFC 3339, UTC.
        public let purchaseDate: String
        /// When it was taken back; absent while it stands.
        public let revocationDate: String?
    }

    public let kind: Kind
    public let origin: Origin
    public let environment: AppStoreEnvironment
    public let bundleId: String?
    /// When it was signed; of an app receipt, when it was created.
    public let signedAt: String
    /// Absent where the proof is no purchase.
    public let purchases: [Purchase]?

    public init(_ proof: VerifiedProof) {
        kind =
            switch proof.content {
            case .appReceipt: .appReceipt
            case .transaction: .transaction
            case .renewalInfo: .renewalInfo
            case .notification: .notification
            case .appTransaction: .appTransaction
            }
        origin = proof.origin
        environment = proof.environment
        bundleId = proof.bundleIdentifier
        signedAt = proof.signedAt.rfc3339
        purchases = proof.purchases?.map { purchase in
            Purchase(
                productId: purchase.productIdentifier, transactionId: purchase.transactionIdentifier,
                originalTransactionId: purchase.originalTransactionIdentifier, quantity: purchase.quantity,
                purchaseDate: purchase.purchaseDate.rfc3339, revocationDate: purchase.revocationDate?.rfc3339)
        }
    }
}
