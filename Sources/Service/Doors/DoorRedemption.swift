import Features
import HTTPSupport
import Ledger
import Proofs

/// The redemption of the proofs that clients of the doors send.
struct DoorRedemption: Sendable {
    let services: DoorServices
    /// The caller's allowance for customers without a purchase. Beyond it, the answer is the same, and a refusal is not recorded.
    let newcomers: NewcomerAllowance?

    /// Redeems a proof for a user, counts the result, and records a refusal of an authentic proof.
    ///
    /// - Parameter proof: An app receipt in base64 or DER, or a signed transaction.
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    func redeem(_ proof: [UInt8], for user: User, by caller: Caller) async throws -> Redemption {
        let (purchases, answer) = try await answer(to: proof, for: user, by: caller)
        return try await recordingRefusal(of: proof, for: user, by: caller) {
            let redemption = try services.entitlements.redemption(of: purchases, answered: answer)
            services.metrics.count(.redemptions, redemption.outcome.rawValue)
            return redemption
        }
    }

    /// Does the same, and returns the results for the purchases in the proof's order, even if none of them is the user's.
    ///
    /// - Parameter verified: The result of `verify`; nil if the proof was not verified yet.
    /// - Throws: `RedemptionError` if the proof itself is refused.
    func lines(
        of proof: [UInt8],
        _ verified: VerifiedProof? = nil,
        for user: User,
        by caller: Caller
    ) async throws -> [Redemption.Line] {
        let (purchases, answer) = try await answer(to: proof, verified, for: user, by: caller)
        do {
            _ = try await recordingRefusal(of: proof, for: user, by: caller) {
                let redemption = try services.entitlements.redemption(of: purchases, answered: answer)
                services.metrics.count(.redemptions, redemption.outcome.rawValue)
            }
        } catch is RedemptionError {
            // The lines have the reason of each refusal.
        }
        return try services.entitlements.lines(of: purchases, answered: answer)
    }

    /// Verifies a proof of a purchase without redeeming it, and counts and records its refusal.
    ///
    /// - Parameter user: The user for whom a refusal is recorded; nil if only the proof can tell.
    /// - Throws: `RedemptionError` if the proof is refused, or is of no purchase.
    func verify(_ proof: [UInt8], for user: User?, by caller: Caller) async throws -> VerifiedProof {
        try await recordingRefusal(of: proof, for: user, by: caller) {
            let verified = try await BlockingWork.process(proof.count) {
                try services.entitlements.verify(proof, of: caller.app)
            }
            guard verified.purchases != nil else { throw RedemptionError.notRedeemable }
            return verified
        }
    }

    /// The types of products: by the catalog, or by a proof if the catalog does not have the product any more.
    func types(of lines: [Redemption.Line], _ purchases: [ProvenPurchase]) -> [ByteKey: ProductType] {
        var types: [ByteKey: ProductType] = [:]
        for purchase in purchases { types[ByteKey(purchase.productIdentifier)] = purchase.productType }
        for product in Set(lines.map { ByteKey($0.productId) }) {
            if let known = services.entitlements.apps.type(of: product.text) { types[product] = known }
        }
        return types
    }

    private func answer(
        to proof: [UInt8],
        _ verified: VerifiedProof? = nil,
        for user: User,
        by caller: Caller
    ) async throws -> (EntitlementService.VerifiedPurchases, ClaimAnswer) {
        let service = services.limited(to: caller).entitlements
        return try await recordingRefusal(of: proof, for: user, by: caller) {
            let purchases = try await BlockingWork.process(proof.count) {
                try service.purchases(of: try verified ?? service.verify(proof, of: caller.app), in: proof)
            }
            let request = try service.request(purchases, for: user, by: caller.actor, newcomers: newcomers)
            return (purchases, try await service.answer(request))
        }
    }

    private func recordingRefusal<Value>(
        of proof: [UInt8],
        for user: User?,
        by caller: Caller,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch {
            let service = services.limited(to: caller).entitlements
            services.metrics.count(.redemptions, "refused", code: Problem.code(of: error))
            guard let user else { throw error }
            // The client gets the refusal even if it cannot be recorded.
            try? await service.recordRefusal(error, for: user, by: caller.actor, newcomers: newcomers) {
                (try? await BlockingWork.process(proof.count) { service.claims(ofAuthentic: proof) }) ?? []
            }
            throw error
        }
    }
}
