import Proofs
import Vocabulary

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

/// An amount of a user's balance that the team's back end has spent.
package struct Spending: Hashable, Sendable {
    /// A request with an idempotency key. A retry makes no second spending.
    package struct Request: Hashable, Sendable {
        /// The idempotency key. It is unique for the user forever, across all API keys.
        package let idempotencyKey: String
        /// The SHA-256 of the request, which detects another request under the same key.
        package let digest: [UInt8]

        package init(idempotencyKey: String, digest: [UInt8]) {
            self.idempotencyKey = idempotencyKey
            self.digest = digest
        }
    }

    package let identifier: String
    package let balance: String
    /// The amount, at least 1.
    package let amount: Int
    /// The purpose, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let spentBy: String
    package let spentAt: Timestamp
    /// Nil for a request without an idempotency key.
    package let request: Request?

    package init(
        identifier: String,
        balance: String,
        amount: Int,
        reason: String,
        spentBy: String,
        spentAt: Timestamp,
        request: Request? = nil
    ) {
        self.identifier = identifier
        self.balance = balance
        self.amount = amount
        self.reason = reason
        self.spentBy = spentBy
        self.spentAt = spentAt
        self.request = request
    }
}

/// An amount that the team adds to a user's balance, such as a compensation.
package struct BalanceAddition: Hashable, Sendable {
    package let identifier: String
    package let balance: String
    package let amount: Int
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let addedBy: String
    package let addedAt: Timestamp

    package init(
        identifier: String, balance: String, amount: Int, reason: String, addedBy: String, addedAt: Timestamp
    ) {
        (self.identifier, self.balance, self.amount) = (identifier, balance, amount)
        (self.reason, self.addedBy, self.addedAt) = (reason, addedBy, addedAt)
    }
}

/// A spending that was made, and the rest of the balance after it.
package struct SpentBalance: Hashable, Sendable {
    package let spending: Spending
    package let left: Int
    /// True if an earlier attempt of the same request has made the spending.
    package let isRepeated: Bool
}

/// The error of a spending. Nothing was spent.
package enum BalanceError: RuledError, Equatable {
    case balanceUnknown(String)
    case balanceTooLow(name: String, amount: Int)
    /// Another spending of the user has the same idempotency key.
    case idempotencyKeyReused

    package var rule: ErrorRule {
        switch self {
        case .balanceUnknown(let name):
            ErrorRule(
                "balanceUnknown", .notFound, isOfOperator: true,
                "No product of the catalog adds to a balance \"\(name.prefix(100))\". Use a name from GET …/balances.",
                korean: "이 잔액을 늘리는 상품이 카탈로그에 없습니다.")
        case .balanceTooLow(let name, let amount):
            ErrorRule(
                "balanceTooLow", .conflict, isOfState: true, hasReason: true,
                "The user has only \(amount) of \"\(name)\". Nothing was spent.",
                korean: "사용자의 잔액이 부족합니다. 아무것도 사용하지 않았습니다.")
        case .idempotencyKeyReused:
            ErrorRule(
                "idempotencyKeyReused", .unprocessable,
                "Another spending of this user has this Idempotency-Key. Create a new key for each spending.",
                korean: "같은 키로 다른 요청을 이미 보냈습니다. 페이지를 새로 고친 뒤 다시 시도하세요.")
        }
    }
}
