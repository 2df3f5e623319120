import Proofs

/// The bought and spent amounts of one balance of a user.
package struct Balance: Hashable, Sendable {
    package let name: String
    /// The amount of the purchases that are not revoked, and of the team's additions.
    package let bought: Int
    package let spent: Int

    /// The movements of one customer before a log-in made customers one, or after it. `isMerged`: true for an anonymous customer who
    /// has logged in.
    package typealias Part = (bought: Int, spent: Int, isMerged: Bool)

    /// The balance of a customer with the anonymous customers who have logged in as this one.
    ///
    /// Anybody can log in as anybody. So the debt of an anonymous customer, whose purchase was refunded after it was spent, before
    /// the log-in or after it, lowers nobody's balance.
    package init(name: String, parts: [Part]) {
        self.name = name
        bought = parts.reduce(0) { $0 + $1.bought }
        spent = parts.reduce(0) { $0 + ($1.isMerged ? min($1.spent, $1.bought) : $1.spent) }
    }

    /// The difference. It is negative if a purchase was refunded after it was spent.
    package var left: Int { bought - spent }

    /// The balance as users see it, never negative.
    package var credit: Credit { Credit(balance: name, amount: max(0, left)) }
}

extension Spending {
    /// A spending that was made under the idempotency key of a request, and the amount left after it.
    package typealias Earlier = (spending: Spending, left: Int)

    /// The spending, if the user may spend. A retry of a request gets the same answer, regardless of the current balance.
    ///
    /// - Parameters:
    ///   - balances: The balances of the user.
    ///   - earlier: The user's spending under the same idempotency key; nil if there is none.
    package func answer(from balances: [Balance], earlier: Earlier?) throws(BalanceError) -> SpentBalance {
        if let earlier {
            guard earlier.spending.request?.digest == request?.digest else { throw .idempotencyKeyReused }
            return SpentBalance(spending: earlier.spending, left: earlier.left, isRepeated: true)
        }
        let left = balances.first { $0.name.hasSameBytes(as: balance) }?.left ?? 0
        guard amount <= left else { throw .balanceTooLow(name: balance, amount: max(0, left)) }
        return SpentBalance(spending: self, left: left - amount, isRepeated: false)
    }
}
