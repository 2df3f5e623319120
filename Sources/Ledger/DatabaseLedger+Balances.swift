import Commerce

extension DatabaseLedger {
    public func balances(of user: User, counting origins: Set<Origin>) throws(StorageFault) -> [Credit] {
        try storage.read { database in
            guard let user = try users(database).known(user) else { return [] }
            return try BalanceRecords(database: database).balances(of: user, counting: origins).map {
                Credit(balance: $0.balance, amount: max(0, $0.amount))
            }
        }
    }

    public func spend(
        _ spending: Spending,
        for user: User,
        counting origins: Set<Origin>,
        forgettingBefore oldest: Timestamp,
        keeping answer: (_ left: Int) throws -> (KeptAnswer, IdempotencyKey)?
    ) throws(StorageFault) -> SpendingAnswer {
        try storage.write { database in
            guard let identifier = try users(database).known(user) else { return .tooLow(0) }
            let records = BalanceRecords(database: database)
            let amount =
                try records.balances(of: identifier, counting: origins).first { $0.balance == spending.balance }?.amount
                ?? 0
            let answers = AnswerRecords(database: database)
            let left = amount - spending.amount
            if let (answer, key) = try answer(left) {
                try answers.forget(before: oldest)
                // Another process was quicker with the same request: what it spent is spent.
                if try answers.answer(for: key, since: oldest) != nil { return .answeredBefore }
                guard left >= 0 else { return .tooLow(max(0, amount)) }
                _ = try answers.keep(answer, for: key, about: identifier, at: spending.spentAt)
            }
            guard left >= 0 else { return .tooLow(max(0, amount)) }
            try records.insert(spending, for: identifier)
            try audit(database).append(
                AuditEntry(
                    happenedAt: spending.spentAt, event: .spent, actor: .apiKey(spending.spentBy), origin: nil,
                    reference: spending.identifier, subject: "\(spending.amount) \(spending.balance)",
                    reason: spending.reason),
                to: identifier)
            return .spent(left: left)
        }
    }
}
