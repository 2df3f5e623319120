/// A calendar period in ISO 8601 form, such as `P1M` or `P2W` (StoreKit's `Product.SubscriptionPeriod`).
public struct SubscriptionPeriod: Hashable, Sendable, CustomStringConvertible {
    public enum Unit: Character, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    public static let oneMonth = SubscriptionPeriod(value: 1, unit: .month)
    public static let oneYear = SubscriptionPeriod(value: 1, unit: .year)

    /// The number of units, at least 1.
    public let value: Int
    public let unit: Unit
}

extension SubscriptionPeriod {
    /// - Returns: Nil unless the text is `P`, a number from 1 to 999, and one of D, W, M and Y.
    public init?(_ text: String) { self.init(text, upTo: Self.maximumValue) }

    private static let maximumValue = 999
    /// The largest number of units of a period that was bought several times: ten of the longest one.
    private static let maximumBoughtValue = 10 * maximumValue

    /// Reads a period that was bought several times (`bought`).
    package static func ofUnits(_ text: String) -> SubscriptionPeriod? { Self(text, upTo: maximumBoughtValue) }

    /// The time that several units of a purchase pay.
    package func bought(_ quantity: Int) -> SubscriptionPeriod {
        let (product, isTooLarge) = value.multipliedReportingOverflow(by: max(1, quantity))
        // No time of the ledger is after the year 9999.
        let maximum = unit == .year ? Self.maximumValue : Self.maximumBoughtValue
        return SubscriptionPeriod(value: isTooLarge ? maximum : min(product, maximum), unit: unit)
    }

    private init?(_ text: String, upTo maximum: Int) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }), text.first == "P", let last = text.last,
            let unit = Unit(rawValue: last), let value = Int(text.dropFirst().dropLast()), (1...maximum).contains(value)
        else { return nil }
        self.value = value
        self.unit = unit
    }

    public var description: String { "P\(value)\(unit.rawValue)" }

    /// The period in words, to follow "every": `month`, `3 months`.
    public var words: String {
        value == 1 ? "\(unit)" : "\(value) \(unit)s"
    }
}

extension SubscriptionPeriod: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let period = Self.ofUnits(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "the value must be a period such as P1M")
        }
        self = period
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
