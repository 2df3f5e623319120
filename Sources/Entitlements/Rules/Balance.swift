import Commerce

/// The amounts of one balance that a user has bought and spent.
package struct Balance: Hashable, Sendable {
    package let name: String
    /// The amount of the purchases that are not revoked, and of what the team has added.
    package let bought: Int
    package let spent: Int

    package init(name: String, bought: Int, spent: Int) {
        self.name = name
        self.bought = bought
        self.spent = spent
    }

    /// Below zero if something was refunded after it was spent.
    package var left: Int { bought - spent }

    /// The balance as users see it: never below zero.
    package var credit: Credit { Credit(balance: name, amount: max(0, left)) }
}

extension Spending {
    /// A spending that was made under the idempotency key of a request.
    package struct Earlier: Hashable, Sendable {
        package let spending: Spending
        /// The amount that it left.
        package let left: Int

        package init(spending: Spending, left: Int) {
            self.spending = spending
            self.left = left
        }
    }

    /// Decides whether a user may spend. A request that is sent again gets the answer of then, whatever the balance is now.
    ///
    /// - Parameters:
    ///   - balances: The user's.
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
