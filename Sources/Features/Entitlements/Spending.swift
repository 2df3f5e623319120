import Ledger
import Proofs

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
    /// The balance is lower than the amount.
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
                "balanceTooLow", .conflict, mayRetry: true, hasReason: true,
                "The user has only \(amount) of \"\(name)\". Nothing was spent.",
                korean: "사용자의 잔액이 부족합니다. 아무것도 사용하지 않았습니다.")
        case .idempotencyKeyReused:
            ErrorRule(
                "idempotencyKeyReused", .conflict,
                "Another spending of this user has this Idempotency-Key. Create a new key for each spending.",
                korean: "같은 키로 다른 요청을 이미 보냈습니다. 페이지를 새로 고친 뒤 다시 시도하세요.")
        }
    }
}
