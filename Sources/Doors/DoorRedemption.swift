import Commerce
import Entitlements
import HTTPSupport

/// The redemption of the proofs that clients of the doors send.
struct DoorRedemption: Sendable {
    let services: DoorServices

    /// Redeems a proof for a user, counts the result, and records a refusal of an authentic proof.
    ///
    /// - Parameter proof: An app receipt in base64 or DER, or a signed transaction.
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    func redeem(_ proof: [UInt8], for user: User, by caller: Caller) async throws -> Redemption {
        let service = services.entitlements
        do {
            let purchases = try await BlockingWork.process(proof.count) {
                try service.purchases(in: proof, of: caller.app)
            }
            let redemption = try await service.redeem(purchases, for: user, by: caller.actor)
            services.metrics.countRedemption(redemption.outcome.rawValue)
            return redemption
        } catch {
            services.metrics.countRedemption("refused", code: Problem.code(of: error))
            // The client gets the refusal even if it cannot be recorded.
            try? await service.recordRefusal(error, for: user, by: caller.actor) {
                (try? await BlockingWork.process(proof.count) { service.claims(ofAuthentic: proof) }) ?? []
            }
            throw error
        }
    }
}
