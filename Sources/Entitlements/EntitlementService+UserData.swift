import Commerce
import Ledger

/// What a user may ask for of their own data: all of it, and its end.
extension EntitlementService {
    /// Everything there is of a user; nil for one the ledger has not seen.
    public func archive(of user: User) async throws -> UserArchive? {
        try await ledger.read { try $0.archive(of: user, counting: accepted.counting(for: user), at: clock.now()) }
    }

    /// Erases who a user is. What they have redeemed stays redeemed, by nobody.
    ///
    /// - Parameter account: The user's, as it was when its password was shown; nil where none has to be.
    /// - Returns: false where the ledger has not seen the user, or the account is another by now.
    public func erase(
        _ user: User,
        showing account: AccountRecord? = nil,
        by actor: AuditActor
    ) async throws -> Bool {
        try await ledger.write { try $0.erase(user, showing: account, by: actor, at: clock.now()) }
    }
}
