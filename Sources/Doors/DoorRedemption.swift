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
        let (purchases, answer) = try await answer(to: proof, for: user, by: caller)
        return try await recordingRefusal(of: proof, for: user, by: caller) {
            let redemption = try services.entitlements.redemption(of: purchases, answered: answer)
            services.metrics.countRedemption(redemption.outcome.rawValue)
            return redemption
        }
    }

    /// Does the same, and returns the results for the purchases in the proof's order, even if none of them is the user's.
    ///
    /// - Throws: `RedemptionError` if the proof itself is refused.
    func lines(of proof: [UInt8], for user: User, by caller: Caller) async throws -> [Redemption.Line] {
        let (purchases, answer) = try await answer(to: proof, for: user, by: caller)
        do {
            _ = try await recordingRefusal(of: proof, for: user, by: caller) {
                let redemption = try services.entitlements.redemption(of: purchases, answered: answer)
                services.metrics.countRedemption(redemption.outcome.rawValue)
            }
        } catch is RedemptionError {
            // The lines have the reason of each refusal.
        }
        return try services.entitlements.lines(of: purchases, answered: answer)
    }

    private func answer(
        to proof: [UInt8],
        for user: User,
        by caller: Caller
    ) async throws -> (EntitlementService.VerifiedPurchases, ClaimAnswer) {
        let service = services.entitlements
        return try await recordingRefusal(of: proof, for: user, by: caller) {
            let purchases = try await BlockingWork.process(proof.count) {
                try service.purchases(in: proof, of: caller.app)
            }
            let request = try service.request(purchases, for: user, by: caller.actor)
            return (purchases, try await service.claims.answer(request))
        }
    }

    private func recordingRefusal<Value>(
        of proof: [UInt8],
        for user: User,
        by caller: Caller,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            let service = services.entitlements
            services.metrics.countRedemption("refused", code: Problem.code(of: error))
            // The client gets the refusal even if it cannot be recorded.
            try? await service.recordRefusal(error, for: user, by: caller.actor) {
                (try? await BlockingWork.process(proof.count) { service.claims(ofAuthentic: proof) }) ?? []
            }
            throw error
        }
    }
}
