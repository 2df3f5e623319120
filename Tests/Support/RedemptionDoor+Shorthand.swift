import Entitlements
import Ledger
import Proofs
import Vocabulary

extension EntitlementService {
    /// Redeems a proof by its signature.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's.
    package func redeem(_ proof: [UInt8], for user: User, by actor: AuditActor = .user) async throws -> Redemption {
        try await RedemptionDoor(self).redeem(
            RedemptionRequest(proof, for: user, by: actor, seeing: limitingApp, refusals: .counted)
        ).decision.redemption
    }

    /// Redeems purchases that a store has stated.
    ///
    /// - Returns: The results for the purchases, in their order.
    package func redeem(_ stated: VerifiedPurchases, for user: User) async throws -> [Redemption.Result] {
        try await RedemptionDoor(self, stores: [StatingStore(statement: .init(stated))]).redeem(
            RedemptionRequest([], for: user, by: .user)
        ).decision.lines.map(\.result)
    }
}

/// A store that states the same of each proof.
private struct StatingStore: RedemptionDoor.Store {
    let statement: RedemptionDoor.Statement

    func verify(
        _ proof: [UInt8], from presenter: RedemptionDoor.Presenter
    ) async throws -> RedemptionDoor.Verification { .stated(statement) }
}
