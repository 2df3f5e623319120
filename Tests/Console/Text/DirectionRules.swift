/// The rule that the direction of a text does not affect the text around it (UAX #9).
///
/// A right-to-left text is in a `bdi`, between isolating characters, or the only text of its block. Blocks and preformatted
/// lines are paragraphs of their own, and some elements have no markup (HTML Standard section 15.3.5).
enum DirectionRules {
    private static let isolating: Set<String> = ["bdi", "option", "pre", "textarea", "title"]
    private static let blocks: Set<String> = [
        "article", "caption", "dd", "div", "dt", "fieldset", "form", "h1", "h2", "h3", "header", "legend", "li", "main",
        "nav", "p", "section", "summary", "td", "th",
    ]

    /// The texts that affect their neighbours.
    static func defects(of markup: Markup) -> [String] {
        markup.texts.indices.filter { index in
            hasOpenDirection(markup.texts[index].bytes) && !isIsolated(index, in: markup)
        }.map { index in
            let text = markup.texts[index]
            let excerpt = String(decoding: text.bytes.prefix(60), as: UTF8.self).debugDescription
            return "right-to-left text that is not isolated, in <\(markup.elements[text.parent].name)>: \(excerpt)"
        }
    }

    /// True for a text with right-to-left characters outside of isolating ones.
    static func hasOpenDirection(_ bytes: [UInt8]) -> Bool {
        // The first of these characters is two bytes long, from 0xD6 on.
        guard bytes.contains(where: { $0 >= 0xD6 }) else { return false }
        var depth = 0
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x2066...0x2068: depth += 1
            case 0x2069: depth = max(0, depth - 1)
            case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x200F, 0x202B, 0x202E, 0x10800...0x10FFF,
                0x1E800...0x1EFFF:
                if depth == 0 { return true }
            default: break
            }
        }
        return false
    }

    private static func isIsolated(_ index: Int, in markup: Markup) -> Bool {
        let ancestors = ancestors(of: markup.texts[index], in: markup)
        let isMarked = ancestors.contains { ancestor in
            let element = markup.elements[ancestor]
            return isolating.contains(element.name) || element.attributes.contains { $0.name == "dir" }
        }
        guard !isMarked else { return true }
        guard let block = ancestors.first(where: { blocks.contains(markup.elements[$0].name) }) else { return false }
        return !markup.texts.indices.contains { other in
            other != index && markup.texts[other].bytes.contains { $0 > 0x20 }
                && Self.ancestors(of: markup.texts[other], in: markup).contains(block)
        }
    }

    /// The elements around a text, from the inside.
    private static func ancestors(of text: Markup.Text, in markup: Markup) -> [Int] {
        Array(sequence(first: text.parent) { markup.elements[$0].parent })
    }
}
