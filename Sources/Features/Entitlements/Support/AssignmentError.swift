import Proofs

/// The error of an assignment of an unclaimed purchase.
package enum AssignmentError: RuledError, Equatable {
    /// No such purchase is known, or a user has redeemed it.
    case purchaseNotFound
    /// Two origins use the same identifier.
    case purchaseAmbiguous
    /// The origin is not accepted for the user.
    case originNotAccepted(Origin)
    /// The usual checks refuse the purchase.
    case refused(Redemption.Result)

    package var rule: ErrorRule {
        switch self {
        case .purchaseNotFound:
            ErrorRule(
                "unclaimedPurchaseNotFound", .notFound,
                "No unclaimed purchase has this transaction. `GET /v1/transactions/{id}` returns the user who has "
                    + "redeemed it.",
                korean: "이 거래의 주인 없는 구매가 없습니다. 이미 사용자가 등록했을 수 있습니다.")
        case .purchaseAmbiguous:
            ErrorRule(
                "transactionAmbiguous", .conflict,
                "Unclaimed purchases of two origins have this identifier. Name one in the query parameter origin.",
                korean: "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.")
        case .originNotAccepted(let origin):
            ProofRefusal.Reason.originNotAccepted.rule.stating(
                "Purchases from \(origin.rawValue) are not accepted for this user.")
        case .refused(let result): result.rule.stating(result.rule.remedy?.cause ?? result.rule.sentence)
        }
    }
}
