import Commerce
import Ledger

extension EntitlementService {
    /// Erases who a user is. What they have redeemed stays redeemed, by nobody.
    ///
    /// - Returns: Whether the ledger has seen the user.
    public func erase(_ user: User, by actor: AuditActor) async throws -> Bool {
        try await ledger.write { try $0.erase(user, by: actor, at: clock.now()) }
    }
}
