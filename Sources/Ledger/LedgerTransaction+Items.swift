import Commerce
import Foundation

extension LedgerTransaction {
    /// The items that a user owns at a moment by redeemed transactions of some origins and by grants, each once, in order.
    public func items(of user: User, counting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        try ReadingRecords(database: database).items(of: user, counting: origins, at: moment)
    }

    /// A user's redeemed transactions, newest first.
    ///
    /// - Parameters:
    ///   - sequence: Returns only transactions older than the one with this number; nil for all. Later redemptions do not
    ///     change what follows.
    ///   - limit: The largest number of transactions returned.
    public func transactions(of user: User, before sequence: Int64?, limit: Int) throws -> [RedeemedTransaction] {
        guard let user = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).transactions(of: user, before: sequence ?? .max, limit: limit)
    }

    /// The token that a user's app puts into its purchases (StoreKit's `appAccountToken`); nil before `makeAppAccountToken`.
    public func appAccountToken(of user: User) throws -> UUID? {
        guard let user = try users.known(user), try users.isAppAccountTokenSettled(of: user) else { return nil }
        return try users.appAccountToken(of: user)
    }

    /// The token that a user's app puts into its purchases, made at first sight.
    public func makeAppAccountToken(of user: User, at moment: Timestamp) throws -> UUID {
        let user = try number(of: user, at: moment)
        guard let token = try users.appAccountToken(of: user) else { throw damaged }
        if try !users.isAppAccountTokenSettled(of: user) { try users.settleAppAccountToken(of: user) }
        return token
    }

    /// Gives a user the account token that the team made, unless the user has one.
    public func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws -> AppAccountTokenAnswer {
        let known = try users.known(user)
        if let known, let present = try users.appAccountToken(of: known), present != token,
            try users.isAppAccountTokenSettled(of: known)
        {
            return .hasAnother(present)
        }
        // Before a new user gets a number: a refusal writes nothing.
        if let owner = try users.owner(of: token), owner != known { return .ofAnotherUser }
        try users.settleAppAccountToken(token, of: try number(of: user, at: moment))
        return .set
    }
}
