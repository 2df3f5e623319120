import Commerce
import Entitlements
import Hummingbird
import Receipts

/// Proofs that are looked at and redeemed for nobody.
struct ProofRoutes: Sendable {
    let service: EntitlementService
    let work: BlockingWork

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("proofs/verify") { request, _ in
            let proof = Array(try await JSONBody(request).text("proof").utf8)
            return try JSONAnswer.response(try await work.run { Verdict(try service.verify(proof)) })
        }
    }

    /// What a valid proof says; one that is not valid is refused with the code of its reason.
    private struct Verdict: Encodable, Sendable {
        let origin: Origin
        let environment: AppStoreEnvironment
        /// RFC 3339, UTC.
        let signedAt: String
        let bundleId: String?
        /// Absent where the proof is no purchase.
        let purchases: [Purchase]?

        struct Purchase: Encodable {
            let transactionId: String
            let originalTransactionId: String
            let productId: String
            let quantity: Int
            let purchaseDate: String
            /// When it was taken back; absent while it stands.
            let revocationDate: String?
        }

        init(_ proof: VerifiedProof) {
            origin = proof.origin
            environment = proof.environment
            signedAt = proof.signedAt.rfc3339
            bundleId = proof.bundleIdentifier
            purchases = proof.purchases?.map { purchase in
                Purchase(
                    transactionId: purchase.transactionIdentifier,
                    originalTransactionId: purchase.originalTransactionIdentifier,
                    productId: purchase.productIdentifier, quantity: purchase.quantity,
                    purchaseDate: purchase.purchaseDate.rfc3339, revocationDate: purchase.revocationDate?.rfc3339)
            }
        }
    }
}
