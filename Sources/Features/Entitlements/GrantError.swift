import Proofs

/// The error of a grant, a revocation or a move. Nothing was changed.
package enum GrantError: RuledError, Equatable {
    case itemUnknown(Item)
    /// The end of the grant is in the past.
    case endPassed
    case grantNotFound
    case transactionNotFound
    /// Two origins use the same identifier.
    case transactionAmbiguous
    /// The purchase to move has its owner's account token.
    case accountTokenDecides
    /// The purchase to move has added to a balance.
    case purchaseAddsToBalance

    package var rule: ErrorRule {
        switch self {
        case .itemUnknown(let item):
            ErrorRule(
                "itemUnknown", .unprocessable, isOfOperator: true, "No product of the catalog grants \(item).",
                korean: "이 아이템을 제공하는 상품이 카탈로그에 없습니다.")
        case .endPassed:
            ErrorRule(
                "endPassed", .unprocessable, "The end of the grant is in the past. Give a future date, or none.",
                korean: "지급이 끝나는 날이 과거입니다. 미래의 날짜를 입력하거나 비워 두세요.")
        case .grantNotFound:
            ErrorRule(
                "grantNotFound", .notFound, "The user has no grant of this identifier.",
                korean: "사용자에게 이 식별자의 지급이 없습니다.")
        case .transactionNotFound:
            ErrorRule(
                "transactionNotFound", .notFound, "The user has redeemed no transaction of this identifier.",
                korean: "이 식별자의 거래가 없습니다.")
        case .transactionAmbiguous:
            ErrorRule(
                "transactionAmbiguous", .conflict,
                "The user has transactions of this identifier from two origins. Name one in the query parameter origin.",
                korean: "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.")
        case .accountTokenDecides:
            Redemption.Result.appAccountTokenMismatch.rule.stating(
                "The purchase has its owner's account token, which decides. It cannot be moved.")
        case .purchaseAddsToBalance:
            ErrorRule(
                "purchaseAddsToBalance", .conflict,
                "The purchase has added to a balance, which may be spent, and cannot be moved. Add to the balance of the "
                    + "other user instead.",
                korean: "잔액을 늘린 구매는 이미 사용했을 수 있어 옮길 수 없습니다. 대신 다른 사용자의 잔액을 늘리세요.")
        }
    }
}
