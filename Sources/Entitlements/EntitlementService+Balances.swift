import Commerce
import Foundation
import Ledger

extension EntitlementService {
    /// What a user has to spend: everything the catalog knows, and whatever else the user ever had some of, by name.
    public func balances(of user: User) throws(StorageFault) -> [Credit] {
        let had = try ledger.balances(of: user, counting: accepted.counting(for: user))
        let others = catalog.balances.filter { name in !had.contains { $0.balance == name } }
        return (had + others.map { Credit(balance: $0, amount: 0) }).sorted { $0.balance < $1.balance }
    }

    /// A new spending, for which nothing was taken yet.
    ///
    /// - Parameters:
    ///   - caller: The identifier of the API key.
    ///   - request: Nil for a request without an idempotency key.
    public func newSpending(
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

    /// Spends a part of a user's balance, never more than there is, and once for each idempotency key of the user.
    public func spend(_ spending: Spending, for user: User) throws(BalanceError) -> SpentBalance {
        let answer: SpendingAnswer
        do {
            answer = try ledger.spend(spending, for: user, counting: accepted.counting(for: user))
        } catch {
            throw .storage(error)
        }
        switch answer {
        case .spent(let left): return SpentBalance(spending: spending, left: left, isRepeated: false)
        case .repeated(let first, let left): return SpentBalance(spending: first, left: left, isRepeated: true)
        case .keyReused: throw .idempotencyKeyReused
        case .tooLow(let amount):
            // A balance that the catalog has left is spent as before by those who have had some of it.
            guard try isKnown(spending.balance, to: user) else { throw .balanceUnknown(spending.balance) }
            throw .balanceTooLow(name: spending.balance, amount: amount)
        }
    }

    private func isKnown(_ balance: String, to user: User) throws(BalanceError) -> Bool {
        do {
            return try balances(of: user).contains { ByteKey($0.balance) == ByteKey(balance) }
        } catch {
            throw .storage(error)
        }
    }
}

/// A spending that was made, and the rest of the balance after it.
public struct SpentBalance: Hashable, Sendable {
    public let spending: Spending
    public let left: Int
    /// Whether the same request has made it before.
    public let isRepeated: Bool
}
