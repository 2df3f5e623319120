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

    /// A decimal number in thousandths: 1990 is written `1.99`, and 5000 is written `5`.
    public init(thousandths: Int64) {
        let (whole, fraction) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
        var digits = String(fraction + 1000).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        text = (thousandths < 0 ? "-" : "") + String(whole) + (digits.isEmpty ? "" : "." + digits)
    }

    /// The value as an integer. Nil if the text is not an integer or does not fit.
    public var int64: Int64? { Int64(text) }

    /// The nearest double. Nil if the number exceeds a double's range.
    public var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }
}
