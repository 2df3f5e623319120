import Proofs
import Vocabulary

/// An error of a request to the Play Developer API. Neither a purchase token nor a credential is in its text.
package enum PlayDeveloperError: RuledError, Equatable {
    /// Google Play knows no such purchase token, or not yet, or the text is none.
    case tokenUnknown
    /// The purchase token is over: the subscription ended more than 60 days ago, or the purchase was refunded.
    case tokenEnded
    /// The purchase token is of another app.
    case notThisApp
    /// The purchase is not in a state for the request, such as an acknowledgement of a refunded purchase.
    case stateInvalid
    /// - Parameter reason: Google's word; nil if the answer has none.
    case accountRefused(status: Int, reason: String?)
    /// - Parameter seconds: The time that Google asks to wait; nil if it names none.
    case limited(seconds: Int?)
    case unreachable(host: String)
    /// Google Play fails (5xx), or another request changes the purchase at the same time (409).
    case failed(status: Int)
    /// Another answer that is no success.
    case refused(status: Int, reason: String?)
    /// - Parameter reason: A sentence without content of the answer; nil if there is none.
    case answerInvalid(reason: String?)
    case cancelled

    package var rule: ErrorRule {
        switch self {
        case .tokenUnknown:
            ErrorRule(
                "googlePlayTokenUnknown", .unprocessable, mayRetry: true,
                "Google Play does not know the purchase token. Send the token of the purchase unchanged.",
                korean: "Google Play가 모르는 구매 토큰입니다. 구매의 토큰을 그대로 보내세요.")
        case .tokenEnded:
            ErrorRule(
                "googlePlayTokenEnded", .unprocessable,
                "The purchase token is over: the purchase was refunded, or ended more than 60 days ago.",
                korean: "끝난 구매 토큰입니다. 구매가 환불되었거나 60일보다 전에 끝났습니다.")
        case .notThisApp:
            ErrorRule(
                "googlePlayOtherApp", .unprocessable,
                "The purchase token is of another app on Google Play. Check the package name of the app.",
                korean: "Google Play의 다른 앱의 구매 토큰입니다. 앱의 패키지 이름을 확인하세요.")
        case .stateInvalid:
            ErrorRule(
                "googlePlayStateInvalid", .conflict,
                "The purchase is not in a state for this request, or was acknowledged already. Ask Google Play for its state.",
                korean: "구매가 이 요청을 처리할 수 없는 상태이거나 이미 확인되었습니다. Google Play에서 구매의 상태를 확인하세요.")
        case .accountRefused(let status, let reason):
            ErrorRule(
                "googlePlayAccountRefused", .unavailable, mayRetry: true, isOfOperator: true,
                "Google Play refuses the service account (\(Self.text(status, reason))). Invite its e-mail address in the Play "
                    + "Console with the rights to view financial data and to manage orders. New rights may take two days.",
                detail: "The service cannot ask Google Play now. Try again later.",
                korean:
                    "Google Play가 서비스 계정을 거절합니다(\(Self.text(status, reason))). Play Console에서 계정의 이메일을 초대하고 재무 데이터 보기와 "
                    + "주문 관리 권한을 주세요. 새 권한은 이틀까지 걸릴 수 있습니다.")
        case .limited(let seconds):
            ErrorRule(
                "googlePlayLimited", .unavailable, mayRetry: true, secondsToWait: seconds,
                "Google Play limits the rate of requests. Try again later.",
                korean: "Google Play가 요청 빈도를 제한합니다. 나중에 다시 시도하세요.")
        case .unreachable(let host):
            ErrorRule(
                "googlePlayUnreachable", .unavailable, mayRetry: true,
                "Google Play at \"\(host)\" does not answer. Try again later.",
                korean: "Google Play(\"\(host)\")가 응답하지 않습니다. 나중에 다시 시도하세요.")
        case .failed(let status):
            ErrorRule(
                "googlePlayFailed", .unavailable, mayRetry: true,
                "Google Play answered with \(status). Try again later.",
                korean: "Google Play에서 \(status) 응답이 왔습니다. 나중에 다시 시도하세요.")
        case .refused(let status, let reason):
            ErrorRule(
                "googlePlayRefused", .badGateway, "Google Play answered with \(Self.text(status, reason)).",
                korean: "Google Play에서 \(Self.text(status, reason)) 응답이 왔습니다.")
        case .answerInvalid(let reason):
            ErrorRule(
                "googlePlayAnswerInvalid", .badGateway, mayRetry: true,
                "The answer of Google Play does not have the form of the Play Developer API."
                    + (reason.map { " \($0)" } ?? "") + " Check the address.",
                korean: "Google Play의 응답이 Play Developer API의 형식이 아닙니다. 주소를 확인하세요.")
        case .cancelled:
            ErrorRule(
                "googlePlayCancelled", .unavailable, mayRetry: true, "The request to Google Play was cancelled.",
                korean: "Google Play에 보낸 요청이 취소되었습니다.")
        }
    }

    private static func text(_ status: Int, _ reason: String?) -> String {
        "\(status)" + (reason.map { " \($0)" } ?? "")
    }

    /// True if Google Play has said that the token is of no purchase of the app. Any other error says nothing about the purchase, which is
    /// then neither granted nor refused.
    package var isOfToken: Bool {
        switch self {
        case .tokenUnknown, .tokenEnded, .notThisApp: true
        case .stateInvalid, .accountRefused, .limited, .unreachable, .failed, .refused, .answerInvalid, .cancelled:
            false
        }
    }
}
