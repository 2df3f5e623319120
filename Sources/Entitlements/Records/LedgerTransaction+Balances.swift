import Commerce
import Ledger

extension LedgerTransaction {
    /// What a user has of everything they ever had some of by purchases of some origins, by name; nothing is below zero.
    public func balances(of user: User, counting origins: Set<Origin>) throws -> [Credit] {
        guard let user = try users.known(user) else { return [] }
        return try BalanceRecords(database: database).balances(of: user, counting: origins).map {
            Credit(balance: $0.balance, amount: max(0, $0.amount))
        }
    }

    /// Spends a part of a user's balance, once for each idempotency key of the user.
    ///
    /// - Parameter origins: The origins whose purchases count.
    public func spend(
        _ spending: Spending,
        for user: User,
        counting origins: Set<Origin>
    ) throws -> SpendingAnswer {
        guard let identifier = try users.known(user) else { return .tooLow(0) }
        let records = BalanceRecords(database: database)
        if let answer = try records.answer(to: spending.request, of: identifier) { return answer }
        let amount =
            try records.balances(of: identifier, counting: origins).first { $0.balance == spending.balance }?.amount
            ?? 0
        let left = amount - spending.amount
        guard left >= 0 else { return .tooLow(max(0, amount)) }
        guard try records.insert(spending, left: left, for: identifier) else {
            // Another process has spent under this key meanwhile.
            guard let answer = try records.answer(to: spending.request, of: identifier) else {
                throw damaged
            }
            return answer
        }
        try audit.append(
            AuditEntry(
                happenedAt: spending.spentAt, event: .spent, actor: .apiKey(spending.spentBy), origin: nil,
                reference: spending.identifier, subject: "\(spending.amount) \(spending.balance)",
                reason: spending.reason),
            to: identifier)
        return .spent(left: left)
    }
}
