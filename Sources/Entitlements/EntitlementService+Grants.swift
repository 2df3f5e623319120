import Commerce
import Foundation
import Ledger

extension EntitlementService {
    /// A grant of an item, which nobody has yet.
    ///
    /// - Parameters:
    ///   - endsAt: From when on it counts no more; nil for good.
    ///   - caller: Whose API key it is.
    public func newGrant(
        of item: Item,
        reason: String,
        endsAt: Timestamp?,
        by caller: String
    ) throws(GrantError) -> Grant {
        let now = clock.now()
        guard catalogs.grants(item) else { throw .itemUnknown(item) }
        guard endsAt.map({ $0 > now }) ?? true else { throw .endPassed }
        return Grant(
            identifier: UUID(randomness: randomness).lowercasedString, item: item, reason: reason, grantedBy: caller,
            grantedAt: now, endsAt: endsAt)
    }

    /// Gives a new grant to a user, and keeps the answer to the caller in the same commit. The same request under the same key
    /// gives nothing more.
    ///
    /// - Returns: The answer that another process has kept under the key; nil if the grant was given.
    public func give(
        _ grant: Grant,
        to user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?
    ) async throws -> KeptAnswer? {
        try await ledger.write {
            try $0.add(
                grant, for: user, keeping: answer, for: key, forgettingBefore: grant.grantedAt.adding(days: -1))
        }
    }

    /// A user's grants, newest first, as `transactions` are.
    public func grants(of user: User, before sequence: Int64?, limit: Int) async throws -> [Grant] {
        try await ledger.read { try $0.grants(of: user, before: sequence, limit: limit) }
    }

    /// Takes a grant back; done twice, it stays as it was done first.
    public func revoke(
        grant identifier: String,
        of user: User,
        reason: String,
        by caller: String
    ) async throws -> Grant {
        let revoked = try await ledger.write { try $0.revoke(grant: identifier, of: user, revocation(reason, caller)) }
        guard let revoked else { throw GrantError.grantNotFound }
        return revoked
    }

    /// Takes back the purchase that a redeemed transaction is of, whatever the App Store says of it and whatever restores
    /// it; done twice, it stays as it was done first.
    ///
    /// - Parameters:
    ///   - origin: nil where one origin alone uses the identifier.
    ///   - app: The bundle identifier of the only app whose transactions count; nil for all apps.
    public func revoke(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        reason: String,
        by caller: String
    ) async throws -> RedeemedTransaction {
        try await change(
            .revoke(revocation(reason, caller)), ofTransaction: identifier, origin: origin, in: app, of: user)
    }

    /// Lets a purchase that the team has taken back count again, as far as the App Store's word goes.
    public func reinstate(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        by caller: String
    ) async throws -> RedeemedTransaction {
        try await change(
            .reinstate(by: caller, at: clock.now()), ofTransaction: identifier, origin: origin, in: app, of: user)
    }

    private func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        in app: String?,
        of user: User
    ) async throws -> RedeemedTransaction {
        let found = try await ledger.write {
            try $0.change(
                change, ofTransaction: identifier, origin: origin, in: app, of: user, accepting: accepted)
        }
        guard let transaction = found.first else { throw GrantError.transactionNotFound }
        guard found.count == 1 else { throw GrantError.transactionAmbiguous }
        return transaction
    }

    private func revocation(_ reason: String, _ caller: String) -> Revocation {
        Revocation(revokedAt: clock.now(), reason: reason, revokedBy: caller)
    }
}
