import Foundation
import Ledger
import Proofs

extension EntitlementService {
    /// The balances of a user by name: those of the catalog, and any other that the user has ever had.
    package func balances(of user: User) async throws -> [Credit] {
        let limit = limit
        let (had, hidden) = try await ledger.read { transaction in
            (
                try transaction.balances(of: user, accepting: accepted.origins(for: user)),
                try limit.map { try transaction.balances(of: user, filledOutside: $0) } ?? []
            )
        }
        let others = catalogs.balances.filter { name in !had.contains { $0.balance == name } }
        return (had + others.map { Credit(balance: $0, amount: 0) })
            .filter { !hidden.contains(ByteKey($0.balance)) && limit?.owns(balance: $0.balance) ?? true }
            .sorted { $0.balance < $1.balance }
    }

    /// A new addition to a balance. It is not stored yet.
    ///
    /// - Parameter caller: The identifier of the API key.
    /// - Throws: `BalanceError.balanceUnknown` for a balance that no product adds to.
    package func newAddition(
        of amount: Int,
        to balance: String,
        reason: String,
        by caller: String
    ) throws(BalanceError) -> BalanceAddition {
        guard catalogs.balances.contains(where: { $0.hasSameBytes(as: balance) }) else {
            throw .balanceUnknown(balance)
        }
        return BalanceAddition(
            identifier: UUID(randomness: randomness).lowercasedString, balance: balance, amount: amount, reason: reason,
            addedBy: caller, addedAt: clock.now())
    }

    /// Adds to a user's balance, and stores the answer to the caller in the same commit.
    ///
    /// - Returns: The answer that another process has stored under the key; nil if the amount was added.
    package func add(
        _ addition: BalanceAddition,
        for user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?
    ) async throws -> KeptAnswer? {
        let limit = limit
        try limit?.check(balance: addition.balance)
        return try await ledger.write { transaction in
            if let limit { try transaction.check(addition.balance, of: user, isOnlyOf: limit) }
            return try transaction.add(
                addition, for: user, keeping: answer, for: key, deletingBefore: addition.addedAt.adding(days: -1))
        }
    }

    /// A new spending. It is not stored yet.
    ///
    /// - Parameters:
    ///   - caller: The identifier of the API key.
    ///   - request: Nil for a request without an idempotency key.
    package func newSpending(
        of amount: Int,
        from balance: String,
        reason: String,
        by caller: String,
        for request: Spending.Request? = nil
    ) -> Spending {
        Spending(
            identifier: UUID(randomness: randomness).lowercasedString, balance: balance, amount: amount,
            reason: reason, spentBy: caller, spentAt: clock.now(), request: request)
    }

    /// Spends a part of a user's balance, never more than it holds, and once for each idempotency key of the user.
    package func spend(_ spending: Spending, for user: User) async throws -> SpentBalance {
        let limit = limit
        try limit?.check(balance: spending.balance)
        let answer = try await ledger.write {
            try $0.spend(spending, for: user, accepting: accepted.origins(for: user), seeing: limit)
        }
        switch answer {
        case .spent(let left): return SpentBalance(spending: spending, left: left, isRepeated: false)
        case .repeated(let first, let left): return SpentBalance(spending: first, left: left, isRepeated: true)
        case .keyReused: throw BalanceError.idempotencyKeyReused
        case .tooLow(let amount):
            // Users can still spend a balance that the catalog no longer has, if they have ever had some of it.
            let isKnown = try await balances(of: user).contains { ByteKey($0.balance) == ByteKey(spending.balance) }
            guard isKnown else { throw BalanceError.balanceUnknown(spending.balance) }
            throw BalanceError.balanceTooLow(name: spending.balance, amount: amount)
        }
    }
}

/// A spending that was made, and the rest of the balance after it.
package struct SpentBalance: Hashable, Sendable {
    package let spending: Spending
    package let left: Int
    /// True if an earlier attempt of the same request has made the spending.
    package let isRepeated: Bool
}

extension EntitlementService {
    /// A new grant of an item. It is not stored yet.
    ///
    /// - Parameters:
    ///   - endsAt: The end of the grant; nil for none.
    ///   - caller: The identifier of the API key.
    package func newGrant(
        of item: Item,
        reason: String,
        endsAt: Timestamp?,
        by caller: String
    ) throws(GrantError) -> Grant {
        let now = clock.now()
        guard limit?.sees(item) ?? catalogs.grants(item) else { throw .itemUnknown(item) }
        guard endsAt.map({ $0 > now }) ?? true else { throw .endPassed }
        return Grant(
            identifier: UUID(randomness: randomness).lowercasedString, item: item, reason: reason, grantedBy: caller,
            grantedAt: now, endsAt: endsAt)
    }

    /// Gives a new grant to a user, and stores the answer to the caller in the same commit. A retry under the same key grants
    /// nothing more.
    ///
    /// - Returns: The answer that another process has stored under the key; nil if the grant was given.
    package func give(
        _ grant: Grant,
        to user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?
    ) async throws -> KeptAnswer? {
        try limit?.check(grant.item)
        return try await ledger.write {
            try $0.add(
                grant, for: user, keeping: answer, for: key, deletingBefore: grant.grantedAt.adding(days: -1))
        }
    }

    /// A user's grants, newest first, paged like `transactions`.
    package func grants(of user: User, before sequence: Int64?, limit: Int) async throws -> [Grant] {
        let items = self.limit?.items
        return try await ledger.read { try $0.grants(of: user, giving: items, before: sequence, limit: limit) }
    }

    /// Revokes a grant. A second revocation changes nothing.
    package func revoke(
        grant identifier: String,
        of user: User,
        reason: String,
        by caller: String
    ) async throws -> Grant {
        let (limit, revocation) = (limit, revocation(reason, caller))
        let revoked = try await ledger.write { transaction -> Grant? in
            if let limit {
                guard let grant = try transaction.grant(identifier, of: user), limit.sees(grant.item) else {
                    return nil
                }
                try limit.check(grant.item)
            }
            return try transaction.revoke(grant: identifier, of: user, revocation)
        }
        guard let revoked else { throw GrantError.grantNotFound }
        return revoked
    }

    /// Revokes the purchase of a redeemed transaction, regardless of the App Store's statements and of restored transactions. A
    /// second revocation changes nothing.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose transactions are searched; nil for all apps.
    package func revoke(
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

    /// Reinstates a purchase that the team has revoked. A revocation by the App Store stays in effect.
    ///
    /// - Parameter reason: The reason for the audit log; nil if none is given.
    package func reinstate(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        reason: String? = nil,
        by caller: String
    ) async throws -> RedeemedTransaction {
        try await change(
            .reinstate(by: caller, at: clock.now(), reason: reason), ofTransaction: identifier, origin: origin, in: app,
            of: user)
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
                change, ofTransaction: identifier, origin: origin, in: limitingApp ?? app, of: user, accepting: accepted
            )
        }
        guard let transaction = found.first else { throw GrantError.transactionNotFound }
        guard found.count == 1 else { throw GrantError.transactionAmbiguous }
        return transaction
    }

    private func revocation(_ reason: String, _ caller: String) -> Revocation {
        Revocation(revokedAt: clock.now(), reason: reason, revokedBy: caller)
    }
}
