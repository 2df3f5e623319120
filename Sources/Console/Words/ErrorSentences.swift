import Features
import HTTPSupport
import Proofs

/// The sentences of errors in each language. The English ones are those of the API, which name the values of the case.
package enum ErrorSentences {
    /// The sentence of a problem in each language. Nil if there is only the English one.
    package static func phrase(of problem: Problem) -> Phrase? {
        (problem.korean ?? sentences[problem.code] ?? sentencesBesideReason[problem.code]).map {
            Phrase(problem.detail, $0)
        }
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
    static func needsDetail(_ problem: Problem) -> Bool {
        problem.hasReason || sentencesBesideReason[problem.code] != nil
    }

    /// The Korean sentences of requests whose English sentence has the reason, such as the rule of a field.
    private static let sentencesBesideReason = [
        "fieldInvalid": "입력한 값이 올바르지 않습니다.",
        "formInvalid": "양식이 올바르지 않습니다.",
        "methodNotAllowed": "이 경로에서 쓸 수 없는 메서드입니다.",
        "parameterInvalid": "주소의 매개변수가 올바르지 않습니다.",
    ]

    /// The Korean sentences of other problems that are no errors of a use case, but of a request, a form or a page.
    private static let sentences: [String: String] = [
        "bodyTooLarge": "내용이 너무 큽니다. 증명은 8 MiB, 그림은 256 KB까지이며, 다른 내용은 더 작아야 합니다.",
        "changeNotFound": "상품에 이 번호의 변경이 없습니다.",
        "changeNotUndoable": "이전 그림은 보관하지 않습니다. 그림을 다시 올리세요.",
        "crossOrigin": "다른 사이트가 양식을 보냈습니다. 콘솔의 페이지를 사용하세요.",
        "formExpired": "이전 세션이나 다른 사이트에서 온 양식입니다. 페이지를 새로 고친 뒤 다시 보내세요.",
        "formSentBefore": "같은 양식을 다른 내용으로 이미 보냈습니다. 페이지를 새로 고친 뒤 다시 시도하세요.",
        "formTooLarge": "양식에 담기에는 상품의 언어가 너무 많습니다. API로 변경하세요.",
        "httpError": "요청이 올바른 HTTP가 아니거나, 내용이 모두 오기 전에 연결이 끊겼습니다.",
        "internalError": "서비스에 오류가 발생했습니다. 나중에 다시 시도하세요. 두 번 보낸 구매도 한 번만 지급됩니다.",
        "mediaTypeUnsupported": "양식의 형식은 multipart/form-data여야 하고, Content-Type에 경계가 있어야 합니다.",
        "notFound": "콘솔에 이 페이지가 없거나, 페이지가 보여 주던 것이 사라졌습니다.",
        "passwordsDiffer": "두 비밀번호가 다릅니다. 같은 비밀번호를 두 번 입력하세요.",
        "permissionMissing": "현재 역할로는 할 수 없는 작업입니다. 콘솔 관리자에게 요청하세요.",
        "pictureNotFound": "카탈로그에 이 아이템의 그림이 없습니다.",
        "productChanged": "페이지를 연 뒤에 상품이 바뀌었습니다. 페이지를 새로 고친 뒤 되돌리세요.",
        "proofNotKept": "이 사용자의 증명 중 SHA-256이 이 값인 것은 보관되어 있지 않습니다. 새 구매의 증명을 보관하려면 `keep-proofs`를 켜세요.",
        "reconciliationRunning": "대조가 진행 중입니다. 끝난 뒤에 다시 시작하세요.",
        "sessionEnded": "세션이 끝났습니다. 로그인한 뒤 다시 시도하세요.",
        "userAmbiguous": "이 이름의 사용자가 여러 발급자에 있습니다. 발급자를 입력하거나 계정 토큰을 사용하세요.",
    ]
}

/// The cause of a refusal and its remedy, in each language.
struct RefusalExplanation {
    let cause: Phrase
    let remedy: Phrase

    /// - Returns: Nil for a code that is no refusal of a proof or a purchase.
    init?(code: String) {
        guard let refusal = RefusalRemedy(code: code) else { return nil }
        cause = Phrase(refusal.cause, refusal.korean.cause)
        remedy = Phrase(refusal.remedy, refusal.korean.remedy)
    }
}
