import Console
import Entitlements
import Features
import Foundation
import Ledger
import TestSupport
import Testing
import Vocabulary

/// The Korean texts of the console, of errors and of mails against the glossary.
@Suite struct KoreanGlossaryTests {
    private typealias Text = KoreanGlossary.Text

    /// The contexts whose English is a code.
    private static let codes: Set = ["error", "explanation", "remedy"]

    private static func isKorean(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.contains { ("\u{AC00}"..."\u{D7A3}").contains($0) }
    }

    /// The texts of the catalog.
    private static let catalog = KoreanCatalog.texts.map { key, korean in
        let context = key.firstMatch(of: /\ \[([a-z ]+)\]$/)
        let english = context.map { String(key[..<$0.range.lowerBound]) } ?? key
        let isCode = context.map { codes.contains(String($0.1)) } ?? false
        return Text(
            file: "Sources/Console/Resources/Korean.json", english: isCode ? nil : english, korean: korean)
    }

    /// The titles that sources state in both languages.
    private static let titles: [Text] = {
        let changes =
            WebhookChange.Event.allCases.map(\.title) + TeamChange.Event.allCases.map(\.title)
            + CatalogChange.Kind.allCases.map(\.title)
        let pairs =
            changes.map { ($0.english, $0.korean) } + AuditEntry.Event.allCases.map { ($0.rule.title, $0.rule.korean) }
            + StoreAction.Kind.allCases.map { ($0.rule.title, $0.rule.korean) }
        return pairs.map { Text(file: "a title of the sources", english: $0.0, korean: $0.1) }
    }()

    /// The Korean literals of a source, each with the English ones before it.
    private static func texts(ofSource path: String) throws -> [Text] {
        let source = try Project.text(path)
        guard isKorean(source) else { return [] }
        var (texts, english, isAfterKorean) = ([Text](), "", false)
        for literal in SwiftLiteral.all(in: source) {
            if isKorean(literal.text) {
                texts.append(Text(file: path, english: english, korean: literal.text, isExact: false))
            } else {
                english = isAfterKorean ? literal.text : english + " " + literal.text
            }
            isAfterKorean = isKorean(literal.text)
        }
        return texts
    }

    private static func texts() throws -> [Text] {
        let sources = try Project.files("Sources", suffix: ".swift").flatMap(texts(ofSource:))
        let path = "Sources/Console/Resources/console.js"
        let script = try Project.text(path).split(separator: "\n").filter(isKorean).map {
            Text(file: path, english: String($0), korean: String($0), isExact: false)
        }
        let mails = try Project.files("Sources", suffix: ".ko.txt").map { path in
            Text(
                file: path, english: try Project.text(path.replacing(".ko.txt", with: ".en.txt")),
                korean: try Project.text(path))
        }
        #expect(catalog.count > 1000 && sources.count > 200 && script.count > 1 && mails.count > 3)
        return catalog + titles + sources + script + mails
    }

    @Test func `every Korean text has the words of the glossary`() throws {
        let glossary = try KoreanGlossary()
        #expect(glossary.terms.count > 50)
        var needed: Set<KoreanGlossary.Exception> = []
        for finding in try Self.texts().flatMap(glossary.findings) {
            if let exception = glossary.exception(for: finding) {
                needed.insert(exception)
            } else {
                Issue.record("\(finding) (\(KoreanGlossary.path))")
            }
        }
        #expect(needed == glossary.exceptions, "remove the exceptions that no text needs from \(KoreanGlossary.path)")
    }

    @Test func `no word of the glossary is right and wrong for one term, and each term stands once`() throws {
        let glossary = try KoreanGlossary()
        for term in glossary.terms {
            #expect(!term.english.isEmpty && !term.korean.isEmpty)
            for word in term.forbidden { #expect(!term.korean.contains { $0.contains(word) }, "\(word)") }
        }
        let english = glossary.terms.flatMap(\.english)
        #expect(Set(english).count == english.count)
        #expect(Set(glossary.meanings.map(\.korean)) == ["상태", "출처"])
    }

    @Test(arguments: [
        // A word that is wrong everywhere.
        ("All unclaimed purchases", "주인 없는 구매 모두 보기", ["주인 없", "소유자 미확인"]),
        // The right word for another term.
        ("Revoked [moment]", "취소 시각", ["취소", "회수"]), ("Redemptions today", "오늘의 등록", ["등록", "지급"]),
        // A word of another meaning.
        ("Source", "출처", ["출처"]), ("Afterwards", "그다음 상태", ["상태"]),
        // No word at all.
        ("Health", "상태", ["서비스 상태"]), ("The event", "그 일", ["이벤트"]),
    ])
    func `a wrong word is named with its text and the right one`(
        english: String, korean: String, words: [String]
    ) throws {
        let text = KoreanGlossary.Text(file: "Sources/A.swift", english: english, korean: korean)
        let findings = try KoreanGlossary().findings(in: text)
        let message = findings.map(\.description).joined(separator: "\n")
        #expect(message.hasPrefix("Sources/A.swift: \"\(korean)\" (\(english)): "))
        for word in words { #expect(message.contains(word), "\(message)") }
    }

    @Test(arguments: [
        ("Cancel the payment", "결제 취소"), ("The App Store reversed a refund.", "App Store가 환불을 취소했습니다."),
        ("Register the address", "주소를 등록하세요"), ("Line items", "항목"), ("Set `app-store-key` and `revoke`.", "설정하세요."),
        ("See Documentation/Catalog.md and purchase.refunded.", "문서를 보세요."),
    ])
    func `a word is right for its own term, and code and names have no terms`(english: String, korean: String) throws {
        let text = KoreanGlossary.Text(file: "Sources/A.swift", english: english, korean: korean)
        #expect(try KoreanGlossary().findings(in: text).isEmpty)
    }
}
