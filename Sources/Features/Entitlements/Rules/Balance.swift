import Proofs

/// The bought and spent amounts of one balance of a user.
package struct Balance: Hashable, Sendable {
    package let name: String
    /// The amount of the purchases that are not revoked, and of the team's additions.
    package let bought: Int
    package let spent: Int

    package init(name: String, bought: Int, spent: Int) {
        self.name = name
        self.bought = bought
        self.spent = spent
    }

    /// The movements of one customer before a log-in made customers one, or after it.
    package struct Part: Hashable, Sendable {
        let bought: Int
        let spent: Int
        /// True for an anonymous customer who has logged in.
        let isMerged: Bool

        package init(bought: Int, spent: Int, isMerged: Bool) {
            self.bought = bought
            self.spent = spent
            self.isMerged = isMerged
        }
    }

    /// The balance of a customer with the anonymous customers who have logged in as this one.
    ///
    /// Anybody can log in as anybody. So the debt of an anonymous customer, whose purchase was refunded after it was spent, before
    /// the log-in or after it, lowers nobody's balance.
    package init(name: String, parts: [Part]) {
        self.init(
            name: name, bought: parts.reduce(0) { $0 + $1.bought },
            spent: parts.reduce(0) { $0 + ($1.isMerged ? min($1.spent, $1.bought) : $1.spent) })
    }

    /// The difference. It is negative if a purchase was refunded after it was spent.
    package var left: Int { bought - spent }

    /// The balance as users see it, never negative.
    package var credit: Credit { Credit(balance: name, amount: max(0, left)) }
}

extension Spending {
    /// A spending that was made under the idempotency key of a request.
    package struct Earlier: Hashable, Sendable {
        package let spending: Spending
        /// The amount left after it.
        package let left: Int

        package init(spending: Spending, left: Int) {
            self.spending = spending
            self.left = left
        }
    }

    /// Decides if a user may spend. A retry of a request gets the same answer, regardless of the current balance.
    ///
    /// - Parameters:
    ///   - balances: The balances of the user.
    ///   - earlier: The user's spending under the same idempotency key; nil if there is none.
    package func answer(from balances: [Balance], earlier: Earlier?) -> SpendingAnswer {
        if let earlier {
            guard earlier.spending.request?.digest == request?.digest else { return .keyReused }
            return .repeated(earlier.spending, left: earlier.left)
        }
        let left = balances.first { $0.name.hasSameBytes(as: balance) }?.left ?? 0
        guard amount <= left else { return .tooLow(max(0, left)) }
        return .spent(left: left - amount)
    }
}
