/// An order number on a customer's receipt, such as MK5TTTVWJH.
struct OrderIdentifier: Sendable {
    private static let maximumLength = 64

    let text: String

    /// - Returns: Nil for a text of another form. Digits alone are a transaction.
    init?(_ text: String) {
        guard (1...Self.maximumLength).contains(text.utf8.count) else { return nil }
        var hasLetter = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): hasLetter = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            default: return nil
            }
        }
        guard hasLetter else { return nil }
        self.text = text
    }
}
