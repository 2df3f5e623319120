import HTTPSupport

/// The page of an error. Its code is the one of the API, which `/errors` explains.
struct ErrorPage {
    let problem: Problem
    /// The sentence of the error in each language. Nil if there is only the English one.
    let sentence: Phrase?
    let language: ConsoleLanguage

    var page: Page {
        Page(title) {
            div(.class("problem"), .role("alert"), .id("problem")) {
                if language == .korean, let sentence {
                    p { sentence }
                    if ErrorSentences.needsDetail(problem.code) { detail }
                } else {
                    detail
                    if let explanation = RefusalExplanation(code: problem.code) {
                        p { explanation.cause }
                        p { explanation.remedy }
                    }
                }
                p(.class("note")) {
                    Phrase("Code", "코드"); plain(": "); code { plain(problem.code) }
                }
            }
            p { a(.href(ConsolePath())) { Phrase("Back to the console", "콘솔로 돌아가기") } }
        }
    }

    /// The sentence of the API, which is in English.
    private var detail: HTML {
        p(HTMLAttribute("lang", "en")) { plain(problem.detail) }
    }

    private var title: Phrase {
        switch problem.status {
        case 401: Phrase("Log in again", "다시 로그인하세요")
        case 403: Phrase("Not allowed", "허용되지 않음")
        case 404: Phrase("Not found", "찾을 수 없음")
        case 429: Phrase("Too many attempts", "시도가 너무 많습니다")
        case 500...: Phrase("The service failed", "서비스 오류")
        default: Phrase("This cannot be done", "처리할 수 없음")
        }
    }
}
