/// A JSON number as it was written, so that no digit is lost before somebody asks for a value.
public struct JSONNumber: Hashable, Sendable {
    /// The number's text, in JSON's grammar (RFC 8259 section 6).
    public let text: String

    /// - Parameter text: A number that the parser has checked.
    init(checked text: String) {
        self.text = text
    }

    public init(_ value: Int64) {
        text = String(value)
    }

    /// The value, when the number is written as an integer and fits.
    public var int64: Int64? { Int64(text) }

    /// The nearest double; nil when the number is beyond what a double can hold.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
