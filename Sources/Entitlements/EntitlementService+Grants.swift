import Commerce
import Foundation
import Ledger

extension EntitlementService {
    /// Gives a user an item without a purchase.
    ///
    /// - Parameters:
    ///   - endsAt: From when on it counts no more; nil for good.
    ///   - caller: Whose API key it is.
    public func grant(
        _ item: Item,
        to user: User,
        reason: String,
        endsAt: Timestamp?,
        by caller: String
    ) throws(GrantError) -> Grant {
        let now = clock.now()
        guard catalog.product(granting: item) != nil else { throw .itemUnknown(item) }
        guard endsAt.map({ $0 > now }) ?? true else { throw .endPassed }
        let grant = Grant(
            identifier: UUID(randomness: randomness).lowercasedString, item: item, reason: reason, grantedBy: caller,
            grantedAt: now, endsAt: endsAt)
        do { return try ledger.add(grant, for: user) } catch { throw .storage(error) }
    }

    /// A user's grants, newest first, as `transactions` are.
    public func grants(of user: User, before sequence: Int64?, limit: Int) throws(StorageFault) -> [Grant] {
        try ledger.grants(of: user, before: sequence, limit: limit)
    }

    /// Takes a grant back; done twice, it stays as it was done first.
    public func revoke(
        grant identifier: String,
        of user: User,
        reason: String,
        by caller: String
    ) throws(GrantError) -> Grant {
        let revoked: Grant?
        do {
            revoked = try ledger.revoke(grant: identifier, of: user, revocation(reason, caller))
        } catch {
            throw .storage(error)
        }
        guard let revoked else { throw .grantNotFound }
        return revoked
    }

    /// Takes a redeemed transaction back, whatever the App Store says of it; done twice, it stays as it was done first.
    public func revoke(
        transaction identifier: String,
        of user: User,
        reason: String,
        by caller: String
    ) throws(GrantError) -> RedeemedTransaction {
        try setRevocation(revocation(reason, caller), ofTransaction: identifier, of: user)
    }

    /// Lets a transaction that the team has taken back count again, as far as the App Store's word goes.
    public func reinstate(transaction identifier: String, of user: User) throws(GrantError) -> RedeemedTransaction {
        try setRevocation(nil, ofTransaction: identifier, of: user)
    }

    private func setRevocation(
        _ revocation: Revocation?,
        ofTransaction identifier: String,
        of user: User
    ) throws(GrantError) -> RedeemedTransaction {
        let transaction: RedeemedTransaction?
        do {
            transaction = try ledger.setRevocation(revocation, ofTransaction: identifier, of: user)
        } catch {
            throw .storage(error)
        }
        guard let transaction else { throw .transactionNotFound }
        return transaction
    }

    private func revocation(_ reason: String, _ caller: String) -> Revocation {
        Revocation(revokedAt: clock.now(), reason: reason, revokedBy: caller)
    }
}
