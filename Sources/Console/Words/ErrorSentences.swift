import AppStore
import Features
import HTTPSupport
import HTTPTypes
import Proofs

/// The sentences of errors in Korean, by code. The English ones are those of the API, which name the values of the case.
package enum ErrorSentences {
    /// The sentence of a problem in each language. Nil if there is only the English one.
    package static func phrase(of problem: Problem) -> Phrase? {
        guard let korean = korean(problem) else { return nil }
        return Phrase(problem.detail, korean)
    }

    /// The sentence of an error in each language. Nil if there is only the English one.
    ///
    /// - Parameter problem: The problem of the error.
    static func phrase(of error: any Error, as problem: Problem) -> Phrase? {
        guard let error = error as? CatalogChangeError else { return phrase(of: problem) }
        let sentence = error.sentence
        // Rare reasons are in English only.
        return sentence.korean.hasSameBytes(as: sentence.english) ? nil : Phrase(problem.detail, sentence.korean)
    }

    /// True if only the English sentence has the reason, such as the rule of a field. A page then shows both.
    static func needsDetail(_ code: String) -> Bool { codesWithReason.contains(code) }

    private static let codesWithReason: Set<String> = [
        "balanceTooLow", "catalogInvalid", "fieldInvalid", "formInvalid", "illegalTransition", "invalidAction",
        "keysUnreadable", "methodNotAllowed", "originNotAccepted", "parameterInvalid", "signingFailed",
        "storeKitError", "webhookURLInvalid",
    ]

    private static func korean(_ problem: Problem) -> String? {
        if problem.code == "tooManyAttempts", let seconds = problem.headers[.retryAfter] {
            return "시도가 너무 많습니다. \(seconds)초 뒤에 다시 시도하세요."
        }
        if let sentence = sentences[problem.code] { return sentence }
        return RefusalExplanation(code: problem.code).map { $0.cause.korean + " " + $0.remedy.korean }
    }

    private static let sentences = [access, service, customers, store].reduce(into: storage) { all, some in
        all.merge(some) { _, own in own }
    }

    /// Forms, sessions, passwords and the team.
    private static let access: [String: String] = [
        "codeWrong": "코드가 올바르지 않거나 이미 사용되었습니다. 다음 코드를 기다리세요. 아무것도 바꾸지 않았습니다.",
        "codesAreOn": "일회용 코드를 이미 사용하고 있습니다. 먼저 현재 코드로 끄세요.",
        "credentialsWrong": "이름이나 비밀번호, 코드가 올바르지 않습니다.",
        "crossOrigin": "다른 사이트가 양식을 보냈습니다. 콘솔의 페이지를 사용하세요.",
        "fieldInvalid": "입력한 값이 올바르지 않습니다.",
        "formExpired": "이전 세션이나 다른 사이트에서 온 양식입니다. 페이지를 새로 고친 뒤 다시 보내세요.",
        "formInvalid": "양식이 올바르지 않습니다.",
        "formSentBefore": "같은 양식을 다른 내용으로 이미 보냈습니다. 페이지를 새로 고친 뒤 다시 시도하세요.",
        "invitationInvalid": "알 수 없거나 이미 사용했거나 만료된 링크입니다. 관리자에게 새 링크를 요청하세요.",
        "lastAdministrator": "로그인할 수 있는 마지막 관리자입니다. 먼저 다른 구성원을 관리자로 지정하고, 그 사람이 비밀번호를 설정하게 하세요.",
        "memberNotFound": "팀에 이 이름의 구성원이 없습니다.",
        "nameInvalid": "쓸 수 없는 이름입니다. 제어 문자 없이 1~\(TeamMember.maximumNameLength)바이트로 입력하세요.",
        "nameTaken": "이미 쓰고 있거나 쓴 적이 있는 이름입니다. 감사 기록이 이름으로 사람을 구분하므로 다른 이름을 고르세요.",
        "ownRemoval": "자기 자신은 삭제할 수 없습니다. 다른 관리자에게 요청하세요.",
        "passwordLikeEmail": "비밀번호가 계정의 이름이나 이메일 주소, 또는 그 @ 앞부분과 같습니다. 다른 비밀번호를 고르세요.",
        "passwordNotHashed": "메모리가 부족해 비밀번호를 처리할 수 없습니다. 나중에 다시 시도하세요.",
        "passwordTooCommon": "너무 흔한 비밀번호입니다. 다른 비밀번호를 고르세요.",
        "passwordTooLong": "비밀번호가 \(Password.maximumLength)바이트를 넘습니다.",
        "passwordTooShort": "비밀번호는 \(Password.minimumLength)자 이상이어야 합니다.",
        "passwordWrong": "비밀번호가 올바르지 않습니다. 아무것도 바꾸지 않았습니다.",
        "passwordsDiffer": "두 비밀번호가 다릅니다. 같은 비밀번호를 두 번 입력하세요.",
        "permissionMissing": "현재 역할로는 할 수 없는 작업입니다. 콘솔 관리자에게 요청하세요.",
        "sessionEnded": "세션이 끝났습니다. 로그인한 뒤 다시 시도하세요.",
        "tooManyAttempts": "시도가 너무 많습니다. 잠시 뒤에 다시 시도하세요.",
    ]

    /// Requests, figures and webhooks.
    private static let service: [String: String] = [
        "bodyTooLarge": "내용이 너무 큽니다. 증명은 8 MiB, 그림은 256 KB까지이며, 다른 내용은 더 작아야 합니다.",
        "figureBreakdownUnknown": "합계는 상품별로, 또는 스토어프런트별로 보관합니다. 둘 중 하나만 고르세요.",
        "figurePointsTooMany": "값이 너무 많습니다. 더 짧은 기간이나 더 긴 단위, 또는 한 상품을 고르세요.",
        "figureTimeInvalid": "첫째 날은 마지막 날이나 오늘보다 늦을 수 없습니다.",
        "figureUnknown": "알 수 없는 지표입니다.",
        "httpError": "요청이 올바른 HTTP가 아니거나, 내용이 모두 오기 전에 연결이 끊겼습니다.",
        "internalError": "서비스에 오류가 발생했습니다. 나중에 다시 시도하세요. 두 번 보낸 구매도 한 번만 지급됩니다.",
        "mediaTypeUnsupported": "양식의 형식은 multipart/form-data여야 하고, Content-Type에 경계가 있어야 합니다.",
        "methodNotAllowed": "이 경로에서 쓸 수 없는 메서드입니다.",
        "notFound": "콘솔에 이 페이지가 없거나, 페이지가 보여 주던 것이 사라졌습니다.",
        "parameterInvalid": "주소의 매개변수가 올바르지 않습니다.",
        "reconciliationRunning": "대조가 진행 중입니다. 끝난 뒤에 다시 시작하세요.",
        "tooBusy": "서비스가 이런 요청을 한도까지 처리하고 있습니다. 잠시 뒤에 다시 시도하세요.",
        "webhookAddressPrivate": "웹훅의 주소가 공개 주소가 아닙니다. 다른 URL을 고르거나, `webhook-private-addresses`로 허용하세요.",
        "webhookMessageNotFound": "웹훅에 이 식별자의 메시지가 없습니다.",
        "webhookNotFound": "이 식별자의 웹훅이 없습니다.",
        "webhookSecretBeingReplaced": "비밀 값을 교체하는 중이며, 이전 값이 아직 유효합니다. 이전 값의 기간이 끝날 때까지 기다리세요.",
        "webhookURLInvalid": "웹훅의 URL이 올바르지 않습니다.",
        "webhooksTooMany": "웹훅이 이미 한도만큼 있습니다. 먼저 하나를 삭제하세요.",
    ]

    /// Customers, purchases and products.
    private static let customers: [String: String] = [
        "balanceTooLow": "사용자의 잔액이 부족합니다. 아무것도 사용하지 않았습니다.",
        "balanceUnknown": "이 잔액을 늘리는 상품이 카탈로그에 없습니다.",
        "catalogInvalid": "카탈로그가 올바르지 않습니다.",
        "changeNotFound": "상품에 이 번호의 변경이 없습니다.",
        "changeNotUndoable": "이전 그림은 보관하지 않습니다. 그림을 다시 올리세요.",
        "endPassed": "지급이 끝나는 날이 과거입니다. 미래의 날짜를 입력하거나 비워 두세요.",
        "formTooLarge": "양식에 담기에는 상품의 언어가 너무 많습니다. API로 변경하세요.",
        "grantNotFound": "사용자에게 이 식별자의 지급이 없습니다.",
        "idempotencyKeyReused": "같은 키로 다른 요청을 이미 보냈습니다. 페이지를 새로 고친 뒤 다시 시도하세요.",
        "itemUnknown": "이 아이템을 제공하는 상품이 카탈로그에 없습니다.",
        "noNotification": "증명은 진짜지만 App Store의 알림이 아닙니다.",
        "notRedeemable": "증명은 진짜지만 구매의 증명이 아닙니다. 앱 영수증이나 서명된 거래를 보내세요.",
        "pictureNotFound": "카탈로그에 이 아이템의 그림이 없습니다.",
        "productChanged": "페이지를 연 뒤에 상품이 바뀌었습니다. 페이지를 새로 고친 뒤 되돌리세요.",
        "productNotFound": "이 식별자의 상품이 없습니다.",
        "proofNotKept": "이 사용자의 증명 중 SHA-256이 이 값인 것은 보관되어 있지 않습니다. 새 구매의 증명을 보관하려면 `keep-proofs`를 켜세요.",
        "transactionAmbiguous": "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.",
        "transactionNotFound": "이 식별자의 거래가 없습니다.",
        "unclaimedPurchaseNotFound": "이 거래의 주인 없는 구매가 없습니다. 이미 사용자가 등록했을 수 있습니다.",
        "userAmbiguous": "이 이름의 사용자가 여러 발급자에 있습니다. 발급자를 입력하거나 계정 토큰을 사용하세요.",
        "userNotFound": "서비스가 모르는 사용자이거나 삭제된 사용자입니다.",
    ]

    /// The local App Store.
    private static let store: [String: String] = [
        "accountInvalid": "쓸 수 없는 계정입니다. 제어 문자 없이 1~\(Store.maximumAccountLength)바이트로 입력하세요.",
        "illegalTransition": "거래의 지금 상태에서는 할 수 없는 작업입니다.",
        "invalidAction": "지금 상태에서는 할 수 없는 작업입니다.",
        "keysUnreadable": "스토어의 서명 키가 불완전하거나 손상되었습니다.",
        "notPurchased": "구매되지 않은 거래이므로 서명된 형식이 없습니다.",
        "notificationNotFound": "스토어에 이 식별자의 알림이 없습니다.",
        "quantityOutOfRange": "한 번에 1개에서 10개까지 살 수 있습니다.",
        "signingFailed": "스토어가 서명하지 못했습니다.",
        "storeKitError": "스토어의 설정이 StoreKit의 오류를 흉내 내고 있습니다.",
        "storefrontNotFound": "이 코드의 스토어프런트가 없습니다. KOR과 같은 ISO 3166-1 국가 코드를 입력하세요.",
        "subscriptionNotFound": "구독에 속하지 않는 거래입니다.",
    ]

    /// The faults of the ledger, whose cause only the operator learns.
    private static let storage: [String: String] = Dictionary(
        uniqueKeysWithValues: StorageFault.Cause.allCases.map { cause in
            (
                StorageFault(cause: cause, path: "").code,
                "서비스가 지금 원장을 사용할 수 없습니다. 나중에 다시 시도하세요. 두 번 보낸 구매도 한 번만 지급됩니다."
            )
        })
}
