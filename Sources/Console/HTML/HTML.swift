/// A part of a page, as a tree. Only `render` makes text of it, and escapes what it renders.
///
/// ```swift
/// table {
///     tr { th { Phrase("Product", "상품") } }
///     for product in products { tr { td { data(product.name) } } }
/// }
/// ```
///
/// A builder takes elements and phrases. Text from outside is named as such, with `data`.
package struct HTML: Sendable {
    indirect enum Node: Sendable {
        case element(Tag, [HTMLAttribute], HTML)
        case text(String)
        case phrase(Phrase)
    }

    var nodes: [Node]

    init(_ nodes: [Node] = []) {
        self.nodes = nodes
    }

    init(@HTMLBuilder _ content: () -> HTML) {
        self = content()
    }

    var isEmpty: Bool { nodes.isEmpty }

    /// The text of the tree, with its phrases in a language.
    package func render(_ language: ConsoleLanguage) -> String {
        var text = ""
        write(to: &text, language)
        return text
    }

    private func write(to text: inout String, _ language: ConsoleLanguage) {
        for node in nodes {
            switch node {
            case .text(let value): text += value.escapedForHTML
            case .phrase(let phrase): text += phrase.text(in: language).escapedForHTML
            case .element(let tag, let attributes, let content):
                text += "<" + tag.name
                for attribute in attributes { attribute.write(to: &text, language) }
                text += ">"
                guard !tag.isVoid else { continue }
                content.write(to: &text, language)
                text += "</" + tag.name + ">"
            }
        }
    }
}

extension String {
    /// The text with character references for the characters that mean something in HTML, in content and in quoted
    /// attributes.
    package var escapedForHTML: String {
        let hasMeaning = utf8.contains { byte in
            switch byte {
            case 0x26, 0x3C, 0x3E, 0x22, 0x27: true
            default: false
            }
        }
        guard hasMeaning else { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
