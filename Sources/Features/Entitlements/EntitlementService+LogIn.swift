import Ledger
import Proofs

extension EntitlementService {
    /// Logs a customer in: an anonymous id and the new id become one customer, with all purchases, grants and balances of both.
    /// Two known customers stay apart; then the ownership policy decides about a purchase that both present.
    ///
    /// A second log-in changes nothing. Log-ins, redemptions and notifications lead to the same owners in any order.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError.userUnknown` if the new id is an account that was never opened, or was erased.
    package func logIn(
        _ current: User,
        as new: User,
        by actor: AuditActor,
        newcomers: NewcomerAllowance? = nil
    ) async throws -> LogIn {
        let moment = clock.now()
        return try await ledger.write {
            try $0.logIn(current, as: new, by: actor, newcomers: newcomers, at: moment)
        }
    }

    /// The ids that became a user's by log-ins, in their order, without the user's own name.
    package func aliases(of user: User) async throws -> [User] {
        try await ledger.read { try $0.aliases(of: user) }
    }
}
