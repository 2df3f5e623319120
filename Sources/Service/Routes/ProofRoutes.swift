import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The route that verifies a proof without redeeming it. An invalid proof is refused with the code of its reason.
struct ProofRoutes: Sendable {
    let service: EntitlementService

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("proofs/verify") { request, context in
            let body = try await JSONBody(
                request, context, fields: ["proof"], upTo: JSONBody.sizeWithProof)
            let (proof, service) = (try body.proof("proof"), service.limited(to: context))
            return try JSONAnswer.response(
                try await BlockingWork.process(proof.count) { ProofResource(try service.verify(proof)) })
        }
    }
}

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
    package let bundleId: String?
    /// The signing date. For an app receipt, the creation date.
    package let signedAt: String
    /// The purchases. Nil if this kind of proof contains none.
    package let purchases: [Purchase]?

    package init(_ proof: VerifiedProof) {
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
                productId: purchase.productIdentifier,
                transactionId: proof.origin.statedIdentifier(purchase.transactionIdentifier),
                originalTransactionId: proof.origin.statedIdentifier(purchase.originalTransactionIdentifier),
                quantity: purchase.quantity,
                purchaseDate: purchase.purchaseDate.rfc3339, revocationDate: purchase.revocationDate?.rfc3339)
        }
    }
}
