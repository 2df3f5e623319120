import Commerce
import Ledger

extension LedgerTransaction {
    /// The balances of which a user ever had some, by name, as users see them. Only purchases of some origins count.
    public func balances(of user: User, counting origins: Set<Origin>) throws -> [Credit] {
        guard let user = try users.known(user) else { return [] }
        return try BalanceRecords(database: database).balances(of: user, counting: origins).map(\.credit)
    }

    /// Spends a part of a user's balance, once for each idempotency key of the user.
    ///
    /// - Parameter origins: The origins whose purchases count.
    public func spend(
        _ spending: Spending,
        for user: User,
        counting origins: Set<Origin>
    ) throws -> SpendingAnswer {
        guard let user = try users.known(user) else { return spending.answer(from: [], earlier: nil) }
        let records = BalanceRecords(database: database)
        // Read first: a writer that comes in between has another version.
        var heads = try users.heads(of: [user])
        let answer = spending.answer(
            from: try records.balances(of: user, counting: origins),
            earlier: try records.earlier(for: spending.request, of: user))
        guard case .spent(let left) = answer else { return answer }
        try records.insert(spending, left: left, for: user)
        let entry = AuditEntry(
            happenedAt: spending.spentAt, event: .spent, actor: .apiKey(spending.spentBy), origin: nil,
            reference: spending.identifier, subject: "\(spending.amount) \(spending.balance)", reason: spending.reason)
        try audit.append([(entry, user)], to: &heads)
        try users.write(heads)
        return answer
    }
}
