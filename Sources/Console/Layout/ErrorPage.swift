import HTTPSupport

/// The page of an error. Its code is the one of the API, which `/errors` explains.
struct ErrorPage {
    let problem: Problem

    var page: Page {
        Page(title) {
            div(.class("problem"), .role("alert"), .id("problem")) {
                // The sentences of errors are those of the API, which has them in English.
                p(HTMLAttribute("lang", "en")) { plain(problem.detail) }
                if let explanation = RefusalExplanation(code: problem.code) {
                    p { explanation.cause }
                    p { explanation.remedy }
                }
                p(.class("note")) {
                    Phrase("Code", "코드"); plain(": "); code { plain(problem.code) }
                }
            }
            p { a(.href(ConsolePath())) { Phrase("Back to the console", "콘솔로 돌아가기") } }
        }
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
