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

    /// A spending that nothing was taken for yet.
    ///
    /// - Parameter caller: Whose API key it is.
    public func newSpending(
        of amount: Int,
        from balance: String,
        reason: String,
        by caller: String
    ) throws(BalanceError) -> Spending {
        guard catalog.balances.contains(balance) else { throw .balanceUnknown(balance) }
        return Spending(
            identifier: UUID(randomness: randomness).lowercasedString, balance: balance, amount: amount,
            reason: reason, spentBy: caller, spentAt: clock.now())
    }

    /// Spends a part of what a user has, never more, and keeps what the caller is answered, in one commit: sent again under
    /// the same key, the request takes nothing more.
    ///
    /// - Returns: What is left; nil where the same request was answered before.
    public func spend(
        _ spending: Spending,
        for user: User,
        keeping answer: (_ left: Int) throws -> (KeptAnswer, IdempotencyKey)?
    ) throws(BalanceError) -> Int? {
        let result: SpendingAnswer
        do {
            result = try ledger.spend(
                spending, for: user, counting: accepted.counting(for: user),
                forgettingBefore: spending.spentAt.adding(days: -1), keeping: answer)
        } catch {
            throw .storage(error)
        }
        switch result {
        case .spent(let left): return left
        case .tooLow(let amount): throw .balanceTooLow(name: spending.balance, amount: amount)
        case .answeredBefore: return nil
        }
    }
}
