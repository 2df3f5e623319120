import Proofs

/// The content of a valid proof.
package struct ProofResource: Codable, Sendable {
    /// The kind of a proof.
    package enum Kind: String, Codable, Sendable {
        case appReceipt, transaction, renewalInfo, notification, appTransaction
    }

    /// A purchase in a proof.
    package struct Purchase: Codable, Sendable {
        package let productId: String
        package let transactionId: String
        package let originalTransactionId: String
        package let quantity: Int
        /// Dates are RFC 3339, UTC.
        package let purchaseDate: String
        /// The date of the revocation. Nil if the purchase is not revoked.
        package var revocationDate: String?
    }

    package let kind: Kind
    package let origin: Origin
    package let environment: AppStoreEnvironment
    package var bundleId: String?
    /// The signing date. For an app receipt, the creation date.
    package let signedAt: String
    /// The purchases. Nil if this kind of proof contains none.
    package var purchases: [Purchase]?
}
