import Console
import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The sentences of errors in the language of the page.
@Suite struct ErrorSentenceTests {
    /// The sources of problems that the console's requests may have.
    private static let problems = [
        "Answers/Problem", "Requests/Forms",
        "Requests/RequestedPage",
    ]

    /// The codes that a source states.
    private static func codes(in path: String) throws -> [String] {
        let text = try Project.text(path)
        // A problem whose sentence has a value states both languages.
        return text.matches(of: /\bcode: "(\w+)"/).map { String($0.1) }.filter { $0 != "tooManyAttempts" }
    }

    private static func korean(_ code: String) -> String? {
        let phrase = ErrorSentences.phrase(of: Problem(status: .conflict, code: code, detail: "An error."))
        #expect(phrase?.english ?? "An error." == "An error.")
        return phrase?.korean
    }

    private static func expectSentence(_ korean: String?, _ code: String, _ source: String) {
        let isSentence = korean.map { $0.hasSuffix("다.") || $0.hasSuffix("요.") } ?? false
        #expect(isSentence, "\(code) of \(source)")
    }

    @Test func `every error of the console's sources has a Korean sentence`() throws {
        let paths = try Project.files("Sources/Console", suffix: ".swift").filter { !$0.contains("/Words/") }
        let found = try paths.flatMap { path in try Self.codes(in: path).map { ($0, path) } }
        #expect(found.contains { $0.0 == "fieldInvalid" } && found.contains { $0.0 == "formExpired" })
        for (code, path) in found { Self.expectSentence(Self.korean(code), code, path) }
    }

    @Test(arguments: problems.map { "Sources/HTTPSupport/\($0).swift" })
    func `every problem behind the console has a Korean sentence`(path: String) throws {
        let found = try Self.codes(in: path)
        #expect(!found.isEmpty)
        for code in found { Self.expectSentence(Self.korean(code), code, path) }
    }

    @Test func `every rule of an error has a Korean sentence, except those whose reason is in English`() throws {
        var count = 0
        for path in try Project.files("Sources", suffix: ".swift") {
            let text = try Project.text(path)
            guard text.contains("ErrorRule(") else { continue }
            for korean in text.matches(of: /(?s)ErrorRule\(\n? *(?:rawValue|"\w+"),.*?korean:\s*"([^\n]*)"\)\n/) {
                Self.expectSentence(String(korean.1), String(korean.0.prefix(100)), path)
                count += 1
            }
        }
        #expect(count > 80)
    }

    @Test func `every storage fault and every refusal has a Korean sentence`() {
        for cause in StorageFault.Cause.allCases {
            let rule = StorageFault(cause: cause, path: "").rule
            Self.expectSentence(ErrorSentences.phrase(of: Problem(rule))?.korean, rule.code, "\(cause)")
        }
        for reason in ProofRefusal.Reason.allCases {
            Self.expectSentence(ErrorSentences.phrase(of: Problem(reason.rule))?.korean, reason.rawValue, "reason")
        }
        for result in Redemption.Result.allCases {
            Self.expectSentence(ErrorSentences.phrase(of: Problem(result.rule))?.korean, result.rawValue, "result")
        }
        #expect(Self.korean("unknownCode") == nil)
    }

    @Test func `a rate limit names the seconds to wait`() {
        let phrase = ErrorSentences.phrase(of: .tooManyAttempts(secondsToWait: 7))
        #expect(phrase?.english == "Too many attempts. Try again in 7 seconds.")
        #expect(phrase?.korean == "시도가 너무 많습니다. 7초 뒤에 다시 시도하세요.")
    }

    /// A request that is refused.
    struct Refused: Sendable {
        let role: TeamRole
        let path: String
        /// The form that is sent to the path. Nil to read the page.
        var form: [String: String]?
        let english: String
        let korean: String
        /// True if the Korean page has the English sentence, too, for its reason.
        var hasReason = false
    }

    private static let refused = [
        Refused(
            role: .viewer, path: "/console/nothing", english: "The console has no such page",
            korean: "콘솔에 이 페이지가 없거나"),
        Refused(
            role: .viewer, path: "/console/figures/none", english: "Unknown figure", korean: "알 수 없는 지표입니다."),
        Refused(
            role: .viewer, path: "/console/team", english: "may not do this", korean: "현재 역할로는 할 수 없는 작업입니다."),
        Refused(
            role: .viewer, path: "/console/customers/-/nobody", english: "The user is unknown to the service",
            korean: "서비스가 모르는 사용자이거나"),
        Refused(
            role: .admin, path: "/console/products/none/edit",
            english: "The catalog has no product with this identifier.",
            korean: "카탈로그에 이 식별자의 상품이 없습니다."),
        Refused(
            role: .admin, path: "/console/store?transaction=1", english: "The store has no sale",
            korean: "이 식별자의 거래가 없습니다."),
        Refused(
            role: .admin, path: "/console/team/members", form: ["name": "admin", "role": "viewer"],
            english: "is or was in use", korean: "이미 쓰고 있거나 쓴 적이 있는 이름입니다."),
        Refused(
            role: .admin, path: "/console/team/members", form: ["name": "ada", "role": "owner"],
            english: "The field &quot;role&quot; must be", korean: "입력한 값이 올바르지 않습니다.", hasReason: true),
    ]

    @Test(arguments: refused)
    func `an error is in the language of the page`(refused: Refused) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(refused.role)
        func answer(_ language: String) async throws -> Browser.Page {
            let headers: HTTPFields = [.acceptLanguage: language]
            guard let form = refused.form else { return try await browser.get(refused.path, headers: headers) }
            return try await browser.post(refused.path, form, from: "/console", headers: headers)
        }
        let english = try await answer("en")
        #expect((400...499).contains(english.status))
        #expect(english.has(refused.english) && !english.has(refused.korean))
        let korean = try await answer("ko")
        #expect(korean.status == english.status)
        #expect(korean.has("<p>" + refused.korean))
        #expect(korean.has(refused.english) == refused.hasReason)
    }
}
