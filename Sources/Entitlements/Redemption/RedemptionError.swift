import Ledger
import Proofs
import Vocabulary

/// The error of a redemption. Nothing of the proof was redeemed.
package enum RedemptionError: RuledError, Equatable {
    /// The proof itself was refused.
    case refused(ProofRefusal)
    /// The proof is authentic, but not of a purchase.
    case notRedeemable
    /// The proof is authentic, but not a notification.
    case noNotification
    /// The ledger refuses every purchase of the proof. The first reason of `Redemption.Result.refusals` is stated.
    case purchaseRefused(Redemption.Result)
    /// The proof is authentic, but only the store knows if its subscription is paid.
    case subscriptionStateUnknown
    /// Google Play has stated that the purchase of a token gives nothing now, such as one whose payment was canceled.
    case purchaseNotOwned
    /// The account is unknown, or was erased.
    case userUnknown
    /// The name stands for no user.
    case userBlocked

    package var rule: ErrorRule {
        switch self {
        case .refused(let refusal): refusal.rule
        case .notRedeemable:
            ErrorRule(
                "notRedeemable", .unprocessable,
                "The proof is authentic, but not of a purchase. Send an app receipt or a signed transaction.",
                korean: "증명은 진짜지만 구매의 증명이 아닙니다. 앱 영수증이나 서명된 거래를 보내세요.")
        case .noNotification:
            ErrorRule(
                "noNotification", .unprocessable,
                "The proof is authentic, but not a notification of the App Store. Send purchases to the user's "
                    + "transactions.",
                korean: "증명은 진짜지만 App Store의 알림이 아닙니다.")
        case .purchaseRefused(let result): result.rule
        case .subscriptionStateUnknown:
            ErrorRule(
                "subscriptionStateUnknown", .conflict, isOfOperator: true,
                "The signature is valid, but only Google Play knows if the subscription is paid, and the service has no service "
                    + "account with which it could ask. Nothing was granted. Do not acknowledge the purchase.",
                korean: "서명은 유효하지만 구독이 지불되었는지는 Google Play만 알며, 서비스에는 물어볼 서비스 계정이 없습니다. 아무것도 지급되지 않았습니다. 구매를 승인하지 마세요.")
        case .purchaseNotOwned:
            ErrorRule(
                "purchaseNotOwned", .conflict, mayRetry: true,
                "Google Play states that the purchase gives nothing now: its payment was canceled, or its product is not owned yet. "
                    + "Nothing was granted. Send the token again when Google Play reports the purchase as paid.",
                korean: "Google Play에 따르면 이 구매는 지금 아무것도 주지 않습니다. 결제가 취소되었거나 상품이 아직 고객의 것이 아닙니다. 아무것도 지급되지 않았습니다. "
                    + "Google Play가 구매 완료를 알리면 토큰을 다시 보내세요.")
        case .userUnknown: LedgerError.userUnknown.rule
        case .userBlocked: LedgerError.userBlocked.rule
        }
    }
}

extension ErrorRule {
    /// The rule of a refused proof or purchase.
    ///
    /// - Returns: Nil for the code of another error.
    package init?(refusal code: String) {
        guard let rule = Redemption.Result(rawValue: code)?.rule ?? ProofRefusal.Reason(rawValue: code)?.rule else {
            return nil
        }
        self = rule
    }
}

extension RefusalRemedy {
    /// - Parameter code: The code of a refusal.
    /// - Returns: Nil for another code.
    package init?(code: String) {
        guard let remedy = ErrorRule(refusal: code)?.remedy else { return nil }
        self = remedy
    }
}
