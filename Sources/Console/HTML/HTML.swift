/// A part of a page, as a tree. Only `render` makes text of it, and escapes what it renders.
///
/// ```swift
/// table {
///     tr { th { "Product" } }
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

    var nodes: [Node] = []

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

extension HTML {
    init(@HTMLBuilder _ content: () -> HTML) { self = content() }
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

struct HTMLAttribute: Sendable {
    let name: String
    /// Nil for an attribute without a value, such as `required`.
    let value: Phrase?

    init(_ name: StaticString, _ value: String) { self.init(name, Phrase(same: value)) }

    init(_ name: StaticString, _ value: Phrase? = nil) {
        self.name = "\(name)"
        self.value = value
    }

    func write(to text: inout String, _ language: ConsoleLanguage) {
        text += " " + name
        if let value { text += "=\"" + value.text(in: language).escapedForHTML + "\"" }
    }

    static func `class`(_ names: String) -> HTMLAttribute { HTMLAttribute("class", names) }
    static func id(_ name: String) -> HTMLAttribute { HTMLAttribute("id", name) }
    static func `for`(_ identifier: String) -> HTMLAttribute { HTMLAttribute("for", identifier) }
    /// A link within the console. No text from outside becomes an address of another kind.
    static func href(_ path: ConsolePath) -> HTMLAttribute { HTMLAttribute("href", path.text) }
    /// A link to a part of the same page.
    static func href(fragment: String) -> HTMLAttribute { HTMLAttribute("href", "#" + fragment) }
    static func src(_ path: ConsolePath) -> HTMLAttribute { HTMLAttribute("src", path.text) }
    static func action(_ path: ConsolePath) -> HTMLAttribute { HTMLAttribute("action", path.text) }
    static func name(_ name: String) -> HTMLAttribute { HTMLAttribute("name", name) }
    static func value(_ value: String) -> HTMLAttribute { HTMLAttribute("value", value) }
    static func type(_ type: StaticString) -> HTMLAttribute { HTMLAttribute("type", "\(type)") }
    static func method(_ method: StaticString) -> HTMLAttribute { HTMLAttribute("method", "\(method)") }
    static func role(_ role: StaticString) -> HTMLAttribute { HTMLAttribute("role", "\(role)") }
    static func scope(_ scope: StaticString) -> HTMLAttribute { HTMLAttribute("scope", "\(scope)") }
    static func ariaLabel(_ phrase: Phrase) -> HTMLAttribute { HTMLAttribute("aria-label", phrase) }
    static func placeholder(_ phrase: Phrase) -> HTMLAttribute { HTMLAttribute("placeholder", phrase) }
    static let required = HTMLAttribute("required")
    static let checked = HTMLAttribute("checked")
    static let selected = HTMLAttribute("selected")
    static let disabled = HTMLAttribute("disabled")
    static let open = HTMLAttribute("open")
}

/// The builder of `HTML`. It takes no strings, so that text is either a phrase in each language or named as data.
@resultBuilder enum HTMLBuilder {
    static func buildExpression(_ html: HTML) -> HTML { html }
    static func buildExpression(_ html: HTML?) -> HTML { html ?? HTML() }
    static func buildExpression(_ phrase: Phrase) -> HTML { HTML(nodes: [.phrase(phrase)]) }
    static func buildExpression(_ phrase: Phrase?) -> HTML { phrase.map(buildExpression) ?? HTML() }
    static func buildBlock(_ parts: HTML...) -> HTML { HTML(nodes: parts.flatMap(\.nodes)) }
    static func buildOptional(_ part: HTML?) -> HTML { part ?? HTML() }
    static func buildEither(first part: HTML) -> HTML { part }
    static func buildEither(second part: HTML) -> HTML { part }
    static func buildArray(_ parts: [HTML]) -> HTML { HTML(nodes: parts.flatMap(\.nodes)) }
}

/// Text from outside: a name, a reason, an identifier. Its direction does not affect the text around it.
package func data(_ value: String) -> HTML {
    bdi { plain(value) }
}

/// Text without language or direction, such as a number; also the content of elements that may have no markup (`option`,
/// `textarea`, `title`).
package func plain(_ value: String) -> HTML {
    HTML(nodes: [.text(value)])
}

/// A kind of element. A call makes an element: `note("Nothing yet.")`.
struct Tag: Sendable {
    let name: String
    /// True if the element has no content and no end tag.
    let isVoid: Bool

    init(_ name: StaticString, isVoid: Bool = false) {
        self.name = "\(name)"
        self.isVoid = isVoid
    }

    func callAsFunction(_ attributes: HTMLAttribute?..., @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        HTML(nodes: [.element(self, attributes.compactMap(\.self), content())])
    }

    /// An element around a part, for closures whose argument has no name.
    func callAsFunction(_ attribute: HTMLAttribute, _ content: HTML) -> HTML {
        HTML(nodes: [.element(self, [attribute], content)])
    }

    func callAsFunction(_ attributes: [HTMLAttribute], @HTMLBuilder content: () -> HTML = { HTML() }) -> HTML {
        HTML(nodes: [.element(self, attributes, content())])
    }
}

// The elements that the console uses, under their names in HTML and SVG.
let a = Tag("a")
let article = Tag("article")
let bdi = Tag("bdi")
let body = Tag("body")
let br = Tag("br", isVoid: true)
let button = Tag("button")
let caption = Tag("caption")
let code = Tag("code")
let datalist = Tag("datalist")
let dd = Tag("dd")
let del = Tag("del")
let details = Tag("details")
let div = Tag("div")
let dl = Tag("dl")
let dt = Tag("dt")
let fieldset = Tag("fieldset")
let form = Tag("form")
let h1 = Tag("h1")
let h2 = Tag("h2")
let h3 = Tag("h3")
let head = Tag("head")
let header = Tag("header")
let html = Tag("html")
let img = Tag("img", isVoid: true)
let input = Tag("input", isVoid: true)
let ins = Tag("ins")
let label = Tag("label")
let legend = Tag("legend")
let li = Tag("li")
let link = Tag("link", isVoid: true)
let main = Tag("main")
let meta = Tag("meta", isVoid: true)
let nav = Tag("nav")
let ol = Tag("ol")
let optgroup = Tag("optgroup")
let option = Tag("option")
let p = Tag("p")
let pre = Tag("pre")
let script = Tag("script")
let section = Tag("section")
let select = Tag("select")
let small = Tag("small")
let span = Tag("span")
let strong = Tag("strong")
let summary = Tag("summary")
let svg = Tag("svg")
let table = Tag("table")
let tbody = Tag("tbody")
let td = Tag("td")
let textarea = Tag("textarea")
let th = Tag("th")
let thead = Tag("thead")
let time = Tag("time")
let title = Tag("title")
let tr = Tag("tr")
let ul = Tag("ul")
let use = Tag("use")
