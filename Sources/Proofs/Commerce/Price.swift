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
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...9).contains(whole.utf8.count), whole.utf8.allSatisfy(Self.isDigit) else {
            return nil
        }
        var digits = String(whole)
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy(Self.isDigit) else { return nil }
            digits += parts[1] + String(repeating: "0", count: 3 - parts[1].utf8.count)
        } else {
            digits += "000"
        }
        guard let milliunits = Int64(digits) else { return nil }
        self.init(milliunits: milliunits, currency: currency)
    }

    /// The amount in major units with the currency's code: `KRW 1,200`, `USD 0.99`.
    public var formatted: String {
        let grouped = (milliunits < 0 ? "-" : "") + (milliunits.magnitude / 1000).groupedDigits
        let fraction = milliunits.magnitude % 1000
        guard fraction != 0 else { return "\(currency) \(grouped)" }
        var decimals = String(String(fraction + 1000).dropFirst())
        if decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(currency) \(grouped).\(decimals)"
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
