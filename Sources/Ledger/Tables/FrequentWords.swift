import Proofs

/// The words of a text that nearly all rows of a table have. A row has the place of its word as a digit.
package struct FrequentWords: Sendable {
    private let words: [String]

    /// - Parameter words: At most ten. Their places stay, so a new one comes last.
    package init(_ words: [String]) { self.words = words }

    package init<Words: CaseIterable & RawRepresentable<String>>(of type: Words.Type) {
        self.init(type.allCases.map(\.rawValue))
    }

    /// The text in a row for a stated one. `=` precedes another text that could be a place.
    package func stored(_ text: String) -> String {
        if let place = words.firstIndex(where: { $0.hasSameBytes(as: text) }) { return String(place) }
        return text.utf8.count > 1 && text.utf8.first != Self.mark ? text : "=" + text
    }

    /// The stated text of one in a row.
    package func stated(_ text: String) -> String {
        guard let first = text.utf8.first else { return text }
        let place = Int(first) - Int(UInt8(ascii: "0"))
        if text.utf8.count == 1, words.indices.contains(place) { return words[place] }
        return first == Self.mark ? String(decoding: text.utf8.dropFirst(), as: UTF8.self) : text
    }

    private static let mark = UInt8(ascii: "=")
}
