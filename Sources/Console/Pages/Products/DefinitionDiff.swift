import StrictJSON

/// The difference of two definitions of a product.
struct DefinitionDiff: Sendable {
    /// Nil if the product did not exist.
    let before: JSONObject?
    let after: JSONObject?

    /// The keys whose values differ, in the order of the definitions.
    var changedKeys: [String] {
        let keys = (before?.keys ?? []) + (after?.keys ?? []).filter { before?[$0] == nil }
        return keys.filter { before?[$0] != after?[$0] }
    }

    /// The difference by lines: each changed line has a sign and, for screen readers, a word.
    var html: HTML {
        let diff = LineDiff(Self.lines(before), Self.lines(after))
        guard diff.added + diff.removed > 0 else {
            return p(.class("empty")) { Phrase("The definitions are the same.", "정의가 같습니다.") }
        }
        return HTML {
            p(.class("note")) {
                Phrase(
                    "Lines added: \(diff.added), removed: \(diff.removed). Keys:",
                    "추가된 줄 \(diff.added)개, 삭제된 줄 \(diff.removed)개. 키:")
                for key in changedKeys {
                    plain(" ")
                    Shown.identifier(key)
                }
            }
            pre(.class("diff")) { for line in diff.hunks { Self.row(line) } }
        }
    }

    private static func row(_ line: LineDiff.Line) -> HTML {
        switch line.kind {
        case .same: span { plain("  " + line.text) }
        case .gap: span { plain("⋯") }
        case .added:
            ins(.class("diff-added")) {
                span(.class("hidden")) { Phrase("Added: ", "추가: ") }
                plain("+ " + line.text)
            }
        case .removed:
            del(.class("diff-removed")) {
                span(.class("hidden")) { Phrase("Removed: ", "삭제: ") }
                plain("- " + line.text)
            }
        }
    }

    private static func lines(_ object: JSONObject?) -> [String] {
        guard let object else { return [] }
        return JSONValue.object(object).prettyText.split(separator: "\n").map(String.init)
    }
}
