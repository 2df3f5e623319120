/// An amount of money in milliunits of a currency. 1990 milliunits of AUD are 1.99 dollars, and 1200000 of KRW are 1200
/// won.
public struct Price: Hashable, Sendable, Codable {
    public let milliunits: Int64
    /// The ISO 4217 code, such as `KRW`.
    public let currency: String

    public init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// Reads an amount in major units as a `.storekit` file writes it: `1200`, `0.99`.
    ///
    /// - Returns: Nil unless the text is 1 to 9 digits, optionally followed by a point and 1 to 3 digits.
    public init?(majorUnits text: String, currency: String) {
        guard let match = text.wholeMatch(of: /([0-9]{1,9})(?:\.([0-9]{1,3}))?/) else { return nil }
        let fraction = match.2 ?? ""
        let digits = match.1 + fraction + String(repeating: "0", count: 3 - fraction.utf8.count)
        guard let milliunits = Int64(digits) else { return nil }
        self.init(milliunits: milliunits, currency: currency)
    }
}
