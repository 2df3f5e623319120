import Proofs

/// An error of a request to the App Store Server API. Changes that were applied before stay. A retry changes nothing twice.
package enum ReconciliationError: RuledError, Equatable {
    case keyInvalid
    case unreachable(host: String)
    /// - Parameter code: Apple's number; nil if the answer has none.
    case refused(status: Int, code: Int64?)
    /// The App Store refuses tokens because of this machine's clock. Negative seconds are behind the App Store's clock.
    case clockWrong(secondsAhead: Int64)
    case answerInvalid
    /// The service refused an answer of the App Store, for a cause that the operator can remove.
    case refusedByService(code: String)
    /// The task was cancelled.
    case cancelled

    package var rule: ErrorRule {
        switch self {
        case .keyInvalid:
            ErrorRule(
                "appStoreKeyInvalid", .badGateway,
                "The private key is not a key for the App Store Server API. Use the EC key in PEM (.p8) from App Store "
                    + "Connect.",
                korean: "App Store Server API의 키가 아닙니다. App Store Connect의 EC 키(PEM, .p8)를 사용하세요.")
        case .unreachable(let host):
            ErrorRule(
                "appStoreUnreachable", .unavailable, mayRetry: true,
                "The App Store Server API at \"\(host)\" does not answer. Try again later.",
                korean: "App Store Server API(\"\(host)\")가 응답하지 않습니다. 나중에 다시 시도하세요.")
        case .refused(let status, let code):
            refusal(status, code)
        case .clockWrong(let seconds):
            ErrorRule(
                "appStoreRefused", .badGateway,
                "The App Store Server API refuses tokens: this machine's clock is \(abs(seconds)) seconds "
                    + "\(seconds < 0 ? "behind" : "ahead"). Set the clock.",
                korean:
                    "컴퓨터의 시계가 \(abs(seconds))초 \(seconds < 0 ? "느려" : "빨라") App Store Server API가 토큰을 거절합니다. 시계를 맞추세요.")
        case .answerInvalid:
            ErrorRule(
                "appStoreAnswerInvalid", .badGateway,
                "The answer of the App Store Server API does not have Apple's form. Check the address.",
                korean: "App Store Server API의 응답이 Apple의 형식이 아닙니다. 주소를 확인하세요.")
        case .refusedByService(let code):
            ErrorRule(
                code, .badGateway,
                "The service refuses the answer of the App Store (\(code)). Remove the cause, and the service asks again.",
                korean: "서비스가 App Store의 응답을 거절합니다(\(code)). 원인을 없애면 서비스가 다시 요청합니다.")
        case .cancelled:
            ErrorRule(
                "appStoreCancelled", .unavailable, mayRetry: true,
                "The request to the App Store Server API was cancelled.",
                korean: "App Store Server API에 보낸 요청이 취소되었습니다.")
        }
    }

    private func refusal(_ status: Int, _ code: Int64?) -> ErrorRule {
        let mayRetry = status == 429 || status >= 500
        let number = code.map { " (\($0))" } ?? ""
        let isOfKey = status == 401
        return ErrorRule(
            "appStoreRefused", mayRetry ? .unavailable : .badGateway, mayRetry: mayRetry,
            isOfKey
                ? "The App Store Server API does not accept the key. Check the key, its identifier, the issuer's identifier, "
                    + "and the app."
                : "The App Store Server API answered with \(status)\(number).",
            korean: isOfKey
                ? "App Store Server API가 키를 받아들이지 않습니다. 키와 키의 식별자, 발급자의 식별자, 앱을 확인하세요."
                : "App Store Server API가 \(status)\(number)로 응답했습니다.")
    }

    /// Apple's numbers for errors that a retry may solve.
    private static let retryableCodes: Set<Int64> = [4_040_002, 4_040_004, 4_040_006]

    /// True if the App Store refused the request and would refuse a retry.
    package var isFinal: Bool {
        guard case .refused(let status, let code?) = self else { return false }
        return (400...499).contains(status) && ![401, 403, 408, 429].contains(status)
            && !Self.retryableCodes.contains(code)
    }

    /// True if the error concerns one request, and others may succeed.
    package var concernsOneRequest: Bool {
        switch self {
        case .answerInvalid: true
        case .refused(let status, let code): isFinal || status >= 500 || code.map(Self.retryableCodes.contains) == true
        case .keyInvalid, .unreachable, .clockWrong, .refusedByService, .cancelled: false
        }
    }
}
