import Console
import Foundation
import TestSupport
import Testing

/// Text from outside, which is always shown as text.
@Suite struct HTMLTests {
    private static let pieces = [
        "<script>alert(1)</script>", "\"", "'", "&", "&amp;", "<", ">", "</textarea>", "]]>", "-->", "\u{202E}",
        "\u{200F}",
        "שלום", "새싹", "e\u{301}\u{301}", "\u{1F331}", "\u{0}", "\n", "a", " onload=x", "javascript:", "{{x}}",
    ]

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `any text is shown as that text`(seed: UInt64) {
        let dice = Dice(seed: seed)
        for _ in 0..<40 {
            let text = (0..<dice.number(below: 12)).map { _ in dice.pick(Self.pieces) ?? "" }.joined()
            let shown = data(text).render(.english)
            #expect(shown.hasPrefix("<bdi>") && shown.hasSuffix("</bdi>"))
            let inner = String(shown.dropFirst(5).dropLast(6))
            #expect(!inner.utf8.contains { [0x3C, 0x3E, 0x22, 0x27].contains($0) }, "\(inner)")
            #expect(Self.unescaped(inner).utf8.elementsEqual(text.utf8))
            #expect(text.escapedForHTML.utf8.elementsEqual(inner.utf8))
        }
    }

    /// The text that a browser reads (HTML Standard section 13.2.5.72).
    private static func unescaped(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
