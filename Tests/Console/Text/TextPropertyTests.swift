import Foundation
import HTTPTypes
import Testing

/// Text from outside on every page of the console that links lead to, in both languages. TILL_TEXT_SEEDS tries more seeds.
@Suite struct TextPropertyTests {
    private static let maximumRecorded = 12
    private static let seeds =
        ProcessInfo.processInfo.environment["TILL_TEXT_SEEDS"].flatMap(UInt64.init).map { max($0, 1) } ?? 3

    /// The findings about the pages of one seed.
    private struct Findings {
        var shown: ShownTexts
        private(set) var defects: [String] = []

        init(_ texts: [HostileText]) {
            shown = ShownTexts(texts)
        }

        /// - Returns: The page; nil if its markup is not read.
        mutating func check(_ page: Browser.Page, _ name: String, isRefusal: Bool = false) -> Markup? {
            if page.status >= 500 { add("status \(page.status)", name) }
            let markup: Markup
            do throws(Markup.Defect) { markup = try Markup(page.text) } catch {
                add(error.description, name)
                return nil
            }
            let found =
                MarkupRules.defects(of: markup) + DirectionRules.defects(of: markup)
                + shown.defects(of: markup, isRefusal: isRefusal || page.status >= 400)
            for defect in found { add(defect, name) }
            return markup
        }

        mutating func add(_ defect: String, _ page: String) {
            // The two languages mostly have the same defects.
            if !defects.contains(where: { $0.hasSuffix(defect) }) { defects.append("\(page.prefix(90)): \(defect)") }
        }
    }

    @Test(arguments: 0..<seeds)
    func `text from outside is shown as text on every page`(seed: UInt64) async throws {
        var console = try await HostileConsole(seed: seed)
        try await console.fill()
        var findings = Findings(console.texts.all)
        for (path, page, isRefusal) in console.answers {
            _ = findings.check(page, "the answer of \(path)", isRefusal: isRefusal)
        }
        var crawl = Crawl(console.paths)
        while let path = crawl.next() {
            for language in ["en", "ko"] {
                let page = try await console.browser.get(path, headers: [.acceptLanguage: language])
                guard page.headers[.contentType]?.hasPrefix("text/html") == true,
                    let markup = findings.check(page, "\(language) \(path)")
                else { continue }
                #expect(page.has("<html lang=\"\(language)\">"), "seed \(seed): \(path.prefix(90))")
                crawl.follow(markup)
            }
        }
        for text in findings.shown.missing(among: console.shown) {
            findings.add("no page shows it: \(text.text.prefix(60).debugDescription)", text.field)
        }
        for defect in findings.defects.prefix(Self.maximumRecorded) { Issue.record("seed \(seed): \(defect)") }
        #expect(findings.defects.count <= Self.maximumRecorded, "seed \(seed): more defects")
        #expect(crawl.count > 100, "seed \(seed): the links lead to few pages")
    }
}
