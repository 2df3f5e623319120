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
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }), text.first == "P", let last = text.last,
            let unit = Unit(rawValue: last), let value = Int(text.dropFirst().dropLast()), (1...999).contains(value)
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
        guard let period = Self(try container.decode(String.self)) else {
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
