import Commerce
import Foundation

extension LedgerTransaction {
    /// The token that a user's app puts into its purchases (StoreKit's `appAccountToken`). Nil before `makeAppAccountToken`.
    public func appAccountToken(of user: User) throws -> UUID? {
        guard let user = try users.known(user), try users.isAppAccountTokenSettled(of: user) else { return nil }
        return try users.appAccountToken(of: user).flatMap { $0.isPlaceholder ? nil : $0 }
    }

    /// Returns the token that a user's app puts into its purchases, and adds the user if the ledger does not know them.
    public func makeAppAccountToken(of user: User, at moment: Timestamp) throws -> UUID {
        let user = try number(of: user, at: moment)
        guard let token = try users.appAccountToken(of: user) else { throw damaged }
        if token.isPlaceholder {
            // A back end set it before the ledger refused placeholders.
            let new = UUID(randomness: randomness)
            try users.settleAppAccountToken(new, of: user)
            return new
        }
        if try !users.isAppAccountTokenSettled(of: user) { try users.settleAppAccountToken(of: user) }
        return token
    }

    /// Sets the account token that the team generated for a user, unless the user has one.
    public func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws -> AppAccountTokenAnswer {
        let known = try users.known(user)
        if let known, let present = try users.appAccountToken(of: known), present != token, !present.isPlaceholder,
            try users.isAppAccountTokenSettled(of: known)
        {
            return .hasAnother(present)
        }
        // This check precedes the new user's number: a refusal writes nothing.
        if let owner = try users.owner(of: token), owner != known { return .ofAnotherUser }
        try users.settleAppAccountToken(token, of: try number(of: user, at: moment))
        return .set
    }
}
