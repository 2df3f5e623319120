/// An element of the lists in answers.
package protocol Listed {
    /// The field of an answer that has the elements.
    static var listName: String { get }
}

/// A list in an answer, or a page of one.
package struct List<Element: Listed> {
    package let elements: [Element]
    /// The `cursor` of the next page. Nil on the last page, and for a list without pages.
    package let nextCursor: String?

    package init(_ elements: [Element], nextCursor: String? = nil) {
        self.elements = elements
        self.nextCursor = nextCursor
    }

    private struct Key: CodingKey {
        static var elements: Key { Key(stringValue: Element.listName) }
        static var nextCursor: Key { Key(stringValue: "nextCursor") }

        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { return nil }
    }
}

extension List: Sendable where Element: Sendable {}

extension List: Encodable where Element: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(elements, forKey: .elements)
        try container.encodeIfPresent(nextCursor, forKey: .nextCursor)
    }
}

extension List: Decodable where Element: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        elements = try container.decode([Element].self, forKey: .elements)
        nextCursor = try container.decodeIfPresent(String.self, forKey: .nextCursor)
    }
}
