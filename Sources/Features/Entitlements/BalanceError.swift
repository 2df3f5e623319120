import Proofs

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
                "balanceUnknown", .notFound,
                "No product of the catalog adds to a balance \"\(name.prefix(100))\". Use a name from GET …/balances.",
                korean: "이 잔액을 늘리는 상품이 카탈로그에 없습니다.")
        case .balanceTooLow(let name, let amount):
            ErrorRule(
                "balanceTooLow", .conflict, mayRetry: true,
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
