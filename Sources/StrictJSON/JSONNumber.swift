/// A JSON number with its original digits. Nothing is lost until a caller requests a value.
public struct JSONNumber: Hashable, Sendable {
    /// The text of the number, in JSON's grammar (RFC 8259 section 6).
    public let text: String

    /// - Parameter text: A number in JSON's grammar.
    init(checked text: String) {
        self.text = text
    }

    public init(_ value: Int64) {
        text = String(value)
    }

    /// The value as an integer. Nil if the text is not an integer or does not fit.
    public var int64: Int64? { Int64(text) }

    /// The nearest double. Nil if the number exceeds a double's range.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
