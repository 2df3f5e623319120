/// An attribute of an element.
struct HTMLAttribute: Sendable {
    enum Value: Sendable {
        case text(String)
        case phrase(Phrase)
        /// The attribute has no value, such as `required`.
        case none
    }

    let name: String
    let value: Value

    init(_ name: StaticString, _ value: String) {
        self.name = "\(name)"
        self.value = .text(value)
    }

    init(_ name: StaticString, _ value: Phrase) {
        self.name = "\(name)"
        self.value = .phrase(value)
    }

    init(_ name: StaticString) {
        self.name = "\(name)"
        value = .none
    }

    func write(to text: inout String, _ language: ConsoleLanguage) {
        text += " " + name
        switch value {
        case .text(let value): text += "=\"" + value.escapedForHTML + "\""
        case .phrase(let phrase): text += "=\"" + phrase.text(in: language).escapedForHTML + "\""
        case .none: break
        }
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
    static func title(_ phrase: Phrase) -> HTMLAttribute { HTMLAttribute("title", phrase) }
    static func ariaLabel(_ phrase: Phrase) -> HTMLAttribute { HTMLAttribute("aria-label", phrase) }
    static func placeholder(_ phrase: Phrase) -> HTMLAttribute { HTMLAttribute("placeholder", phrase) }
    static let required = HTMLAttribute("required")
    static let checked = HTMLAttribute("checked")
    static let selected = HTMLAttribute("selected")
    static let disabled = HTMLAttribute("disabled")
    static let open = HTMLAttribute("open")
}
