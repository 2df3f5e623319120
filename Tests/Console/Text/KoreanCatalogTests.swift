import AppStore
import Catalog
import Console
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The Korean texts of the console against the English ones in the sources.
@Suite struct KoreanCatalogTests {
    /// The functions whose texts a page does not show: they name parts of the page, the address or the form.
    private static let technical: Set<String> = [
        "CharacterSet", "ConsolePath", "HTMLAttribute", "HTTPField", "IdempotencyKey", "Picture", "Problem",
        "RouterPath",
        "String", "Tag", "class", "dropLast", "for", "hasSuffix", "invalid", "notice", "optional", "parameter",
        "parsed", "plain", "texts",
    ]
    /// The functions whose texts a page shows, also a single word.
    private static let shown: Set<String> = [
        "Page", "Phrase", "action", "badge", "card", "column", "emptyNote", "entry", "fact", "link", "note",
        "part",
        "table",
    ]
    private static let shownLabels: Set<String> = ["empty", "note", "remedy", "submit", "title"]
    /// The signs before a text that a page does not show.
    private static let operators: Set<String> = ["=", "==", "!=", "+", "+=", "case"]
    /// The texts that look like those of a page.
    private static let hidden: Set<String> = [
        "till_console", "__Host-till_console", "; Secure", "s", "data: {}\n", "event: row\n",
        "event: change\ndata: {}\n\n",
        "error-", "delay:{}", ", {}까지", "u{2068}{}u{2069}", "curl -X POST {}", "-H {}", "--data-raw {}", "KiB", "MiB",
        "GiB",
        "TiB", "ECDSA {}", "RSA {}", "Ed25519", "English", "한국어", "January", "February", "March", "April", "May",
        "June",
        "July", "August", "September", "October", "November", "December", "the key is missing", "the text is empty",
        "it should be a whole number", "it is no price", "it is not a period",
    ]

    private static func literals(_ folder: String) throws -> [SwiftLiteral] {
        try Project.files(folder, suffix: ".swift").flatMap { SwiftLiteral.all(in: try Project.text($0)) }
    }

    /// True for a text with letters besides its values.
    private static func hasLetters(_ text: String) -> Bool {
        text.replacing("{}", with: "").contains(where: \.isLetter)
    }

    /// True if a page shows the text of a literal.
    private static func isShown(_ literal: SwiftLiteral) -> Bool {
        let text = literal.text
        guard hasLetters(text), !hidden.contains(text), !operators.contains(literal.previous) else { return false }
        if ["context", "expected", "key", "same"].contains(literal.label) { return false }
        // The first value of a case, such as a title with its mood.
        if literal.callee == ":", literal.previous == "(" { return true }
        if shown.contains(literal.callee) || shownLabels.contains(literal.label) { return true }
        if literal.bracket == "{" { return true }
        let isSentence = text.contains(/[A-Za-z0-9}] [A-Za-z{]/) || text.contains(/^[A-Z][a-z]+(?![-A-Za-z])/)
        return isSentence && !technical.contains(literal.callee)
    }

    @Test func `every sentence of the sources has its Korean`() throws {
        var (missing, count): (Set<String>, Int) = ([], 0)
        for file in try Project.files("Sources/Console", suffix: ".swift") {
            let literals = SwiftLiteral.all(in: try Project.text(file))
            count += literals.count
            for (place, literal) in literals.enumerated() where Self.isShown(literal) {
                let next = literals[(place + 1)...].first
                let key = literal.text + (next?.label == "context" ? " [\(next?.text ?? "")]" : "")
                if ["", " [error]"].allSatisfy({ KoreanCatalog.texts[key + $0] == nil }) { missing.insert(key) }
            }
        }
        #expect(count > 1000)
        #expect(missing.isEmpty, "add the Korean of \(missing.sorted()) to Sources/Console/Resources/Korean.json")
    }

    /// The texts that other parts state in English.
    private static let stated = Array(
        [
            Figure.allCases.map(\.definition), TransactionFact.allCases.map(\.field.meaning),
            RenewalFact.allCases.map(\.field.meaning), AppReceipt.Attribute.allCases.map(\.meaning),
            InAppPurchase.Attribute.allCases.map(\.meaning), TransactionAction.allCases.map(\.title),
            StoreSetting.Section.allCases.map(\.rawValue), StoreSetting.all.map(\.title),
            StoreSetting.all.compactMap(\.note), ProductType.allCases.map(\.title.english),
            ExpirationReason.allCases.map(\.sentence),
            PurchaseStore.allCases.flatMap { store in
                ExpirationReason.allCases.map { $0.cancellation(at: store) }
            },
            HealthCheck.Subject.allCases.map { Phrase(titled: $0).english },
            FigureInterval.allCases.map { Phrase(titled: $0).english },
            FigureQuery.Group.allCases.map { Phrase(titled: $0).english },
            StoryKind.allCases.map { Phrase(titled: $0).english },
            StoreKitCall.allCases.map { Phrase(titled: $0).english },
            SendAttemptResult.allCases.filter { $0 != .success }.map(\.rawValue),
        ].joined())

    @Test func `every text that another part states in English has its Korean`() {
        for text in Self.stated { #expect(KoreanCatalog.texts[text] != nil, "\(text)") }
        for cause in ItemExplanation.Cause.allCases {
            #expect(KoreanCatalog.texts["\(cause.rawValue) [explanation]"] != nil, "\(cause)")
        }
    }

    @Test func `every title of a change has its Korean`() {
        let titles =
            WebhookChange.Event.allCases.map(\.title) + TeamChange.Event.allCases.map(\.title)
            + CatalogChange.Kind.allCases.map(\.title)
        for title in titles { #expect(title.korean.contains(/\p{Hangul}/), "\(title.english)") }
    }

    @Test func `every entry of the catalog has its sentence in the sources`() throws {
        var known = Set(
            try Self.literals("Sources/Console").map(\.text) + Self.literals("Sources/till").map(\.text)
                + Self.literals("Sources/AppStore").map(\.text))
        let codes = Set(try Self.literals("Sources/HTTPSupport").map(\.text)).union(known)
        let causes = Set(ItemExplanation.Cause.allCases.map(\.rawValue) + ["expected before"])
        known.formUnion(Self.stated)
        for key in KoreanCatalog.texts.keys.sorted() {
            let sentence = Self.sentence(of: key)
            switch Self.context(of: key) {
            case "error": #expect(codes.contains(sentence) || known.contains(key), "\(key)")
            case "explanation", "remedy": #expect(causes.contains(sentence), "\(key)")
            case let context:
                #expect(known.contains(sentence) && (context.isEmpty || known.contains(context)), "\(key)")
            }
        }
    }

    @Test func `the Korean names only values that the sentence has, and is sorted by the English`() throws {
        for (key, text) in KoreanCatalog.texts {
            #expect(!text.isEmpty && !text.contains("{}"), "\(key)")
            guard !["explanation", "remedy", "error"].contains(Self.context(of: key)) else { continue }
            let count = key.components(separatedBy: "{}").count - 1
            // One more value may belong to the Korean alone.
            for number in text.matches(of: /\{([0-9]+)\}/).compactMap({ Int($0.1) }) {
                #expect((1...count + 1).contains(number), "\(key)")
            }
        }
        let file = try Project.text("Sources/Console/Resources/Korean.json")
        let keys = file.matches(of: /(?m)^\ \ "(.*?)": "/).map { String($0.1).replacing("\\\"", with: "\"") }
        #expect(keys == KoreanCatalog.texts.keys.sorted())
    }

    @Test func `a text is filled with its values in the order of the language`() {
        let (part, whole) = (3, 12)
        let phrase: Phrase = "\("25.0%") (\(part) of \(whole))"
        #expect(phrase.english == "25.0% (3 of 12)" && phrase.korean == "25.0% (12 중 3)")
        let unknown: Phrase = "no such sentence with \(part) and \(phrase)"
        #expect(unknown.korean == "no such sentence with 3 and 25.0% (12 중 3)")
        #expect(KoreanCatalog.filled("{2} {1} {}", ["a", "b", "c"]) == "b a c")
    }

    private static func sentence(of key: String) -> String {
        String(key.prefix(upTo: key.firstMatch(of: /\ \[[a-z ]+\]$/)?.range.lowerBound ?? key.endIndex))
    }

    private static func context(of key: String) -> String {
        key.firstMatch(of: /\ \[([a-z ]+)\]$/).map { String($0.1) } ?? ""
    }
}
