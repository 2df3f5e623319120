import Ledger
import Proofs

extension EntitlementService {
    /// Erases a user's personal data. Their transactions stay redeemed, under a tombstone.
    ///
    /// - Returns: True if the ledger knew the user.
    package func erase(_ user: User, by actor: AuditActor) async throws -> Bool {
        try await ledger.write { try $0.erase(user, by: actor, at: clock.now()) }
    }
}
