import Commerce
import Ledger

/// What a user may ask for of their own data: all of it, and its end.
extension EntitlementService {
    /// Everything there is of a user; nil for one the ledger has not seen.
    public func archive(of user: User) throws(StorageFault) -> UserArchive? {
        try ledger.archive(of: user, counting: accepted.counting(for: user), at: clock.now())
    }

    /// Erases who a user is. What they have redeemed stays redeemed, by nobody.
    ///
    /// - Parameter caller: Under whose name answers are kept for requests of the user's own.
    /// - Returns: false where the ledger has not seen the user.
    public func erase(
        _ user: User,
        by actor: AuditActor,
        forgettingAnswersTo caller: String
    ) throws(StorageFault) -> Bool {
        try ledger.erase(user, by: actor, forgettingAnswersTo: caller, at: clock.now())
    }
}
