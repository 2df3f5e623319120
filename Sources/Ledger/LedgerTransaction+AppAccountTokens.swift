import Foundation
import Proofs

extension LedgerTransaction {
    /// The token that a user's app puts into its purchases (StoreKit's `appAccountToken`). Nil before `makeAppAccountToken`.
    package func appAccountToken(of user: User) throws -> UUID? {
        guard let user = try users.known(user), try users.isAppAccountTokenSettled(of: user) else { return nil }
        return try users.appAccountToken(of: user)
    }

    /// Returns the token that a user's app puts into its purchases, and adds the user if the ledger does not know them.
    package func makeAppAccountToken(of user: User, at moment: Timestamp) throws -> UUID {
        let user = try number(of: user, at: moment)
        guard let token = try users.appAccountToken(of: user) else { throw damaged }
        if try !users.isAppAccountTokenSettled(of: user) { try users.settleAppAccountToken(of: user) }
        return token
    }

    /// The user of an account token, compared with given users.
    package enum TokenOwner: Hashable, Sendable {
        case nobody
        case given
        case other
    }

    /// Returns the relation of an account token's user to some users, each named by any id.
    package func owner(ofAppAccountToken token: UUID, among given: [User]) throws -> TokenOwner {
        guard let owner = try users.owner(of: token) else { return .nobody }
        return try given.contains { try users.known($0) == owner } ? .given : .other
    }

    /// Sets the account token that the team generated for a user, unless the user has one.
    ///
    /// - Parameter isCorrection: True to set it in any case. A former token of the user still leads to the user. The token of
    ///   another user is taken from that user.
    package func setAppAccountToken(
        _ token: UUID,
        of user: User,
        isCorrection: Bool = false,
        at moment: Timestamp
    ) throws -> AppAccountTokenAnswer {
        let (known, owner) = (try users.known(user), try users.owner(of: token))
        if !isCorrection {
            if let known, let present = try users.appAccountToken(of: known), present != token,
                try users.isAppAccountTokenSettled(of: known)
            {
                return .hasAnother(present)
            }
            // This check precedes the new user's number: a refusal writes nothing.
            if let owner, owner != known { return .ofAnotherUser }
        }
        let number = try number(of: user, at: moment)
        if let owner, owner != number { try users.takeAppAccountToken(token, from: owner) }
        try users.settleAppAccountToken(token, of: number, at: moment)
        return .set
    }
}
