import Foundation

/// A text of the console in each of its languages.
///
/// The code has the English one, as a literal. `Korean.json` has the Korean one, with the English one as its key. A literal may
/// have values: the key of `"\(count) of \(total)"` is `{} of {}`, and the Korean names the values as `{1}` and `{2}`, in its
/// own order. `KoreanCatalogTests` compares the literals with the catalog.
package struct Phrase: Hashable, Sendable, ExpressibleByStringInterpolation {
    private enum Translation: Hashable, Sendable {
        case stated(String)
        /// An entry of the catalog, and the values for its places. Without the entry, the English text is shown.
        case entry(english: String, context: String, values: [Phrase])
    }

    package let english: String
    private let translation: Translation

    package var korean: String {
        switch translation {
        case .stated(let text): text
        case .entry(let english, let context, let values):
            KoreanCatalog.filled(KoreanCatalog.texts[english + context] ?? english, values.map(\.korean))
        }
    }
}

extension Phrase {
    package init(stringLiteral text: String) {
        self.init(english: text, translation: .entry(english: text, context: "", values: []))
    }

    package init(stringInterpolation text: Interpolation) {
        self.init(english: text.english, translation: .entry(english: text.key, context: "", values: text.values))
    }

    /// A literal where nothing else states the type.
    package init(_ phrase: Phrase) { self = phrase }

    /// A literal whose Korean depends on what it means.
    ///
    /// - Parameter context: The meaning. The key is the English text with the context: `Expired [event]`.
    init(_ phrase: Phrase, context: String) {
        switch phrase.translation {
        case .stated: self = phrase
        case .entry(let english, _, let values):
            self.init(
                english: phrase.english, translation: .entry(english: english, context: " [\(context)]", values: values)
            )
        }
    }

    /// A text that another part of the service states in English.
    ///
    /// - Parameters:
    ///   - key: The key in the catalog; nil if it is the English text.
    ///   - values: The values of the Korean text.
    init(stated english: String, key: String? = nil, _ values: [String] = []) {
        let text = KoreanCatalog.texts[key ?? english]
        self.init(english: english, korean: text.map { KoreanCatalog.filled($0, values) } ?? english)
    }

    /// The name of a value as a title: the words of its raw value in English, with a capital at their beginning.
    package init(titled value: some RawRepresentable<String>) {
        let words = value.rawValue.replacing(/([a-z])([A-Z])/) { "\($0.1) \($0.2)" }
        self.init(stated: words.prefix(1).uppercased() + words.dropFirst())
    }

    /// A text from another source in each language.
    package init(english: String, korean: String) {
        self.init(english: english, translation: .stated(korean))
    }

    /// A text that is the same in all languages, such as an identifier of the App Store.
    package init(same text: String) { self.init(english: text, translation: .stated(text)) }

    /// Phrases with the same text between them.
    package static func joined(_ phrases: [Phrase], separator: String) -> Phrase {
        Phrase(
            english: phrases.map(\.english).joined(separator: separator),
            korean: phrases.map(\.korean).joined(separator: separator))
    }

    func text(in language: ConsoleLanguage) -> String {
        switch language {
        case .english: english
        case .korean: korean
        }
    }

    package struct Interpolation: StringInterpolationProtocol {
        fileprivate var english = ""
        fileprivate var key = ""
        fileprivate var values: [Phrase] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ text: String) {
            english += text
            key += text
        }

        package mutating func appendInterpolation(_ phrase: Phrase) {
            english += phrase.english
            key += "{}"
            values.append(phrase)
        }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(Phrase(same: value.description))
        }

        /// A value that only the Korean text names.
        mutating func appendInterpolation(korean value: some CustomStringConvertible) {
            values.append(Phrase(same: value.description))
        }
    }
}

/// The Korean texts of the console.
package enum KoreanCatalog {
    package static let texts =
        (try? JSONDecoder().decode([String: String].self, from: Data(PackageResources.Korean_json))) ?? [:]

    /// A text with its values: `{1}` is the first one, and `{}` the next one.
    package static func filled(_ text: String, _ values: [String]) -> String {
        guard !values.isEmpty else { return text }
        var (filled, rest, next) = ("", text[...], 0)
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            let index = Int(rest[rest.index(after: start)..<end]).map { $0 - 1 } ?? next
            filled += rest[..<start] + (values.indices.contains(index) ? values[index] : "")
            rest = rest[rest.index(after: end)...]
            next += 1
        }
        return filled + rest
    }
}
