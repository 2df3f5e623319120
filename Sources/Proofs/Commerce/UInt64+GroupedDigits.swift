extension UInt64 {
    /// The digits with a comma between thousands: `1,226,283`.
    public var groupedDigits: String {
        let digits = String(self)
        var remaining = digits.utf8.count
        guard remaining > 3 else { return digits }
        var text = ""
        for digit in digits.unicodeScalars {
            if remaining.isMultiple(of: 3), !text.isEmpty { text.unicodeScalars.append(",") }
            text.unicodeScalars.append(digit)
            remaining -= 1
        }
        return text
    }
}
