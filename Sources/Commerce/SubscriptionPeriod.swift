/// A length of time by the calendar (StoreKit's `Product.SubscriptionPeriod`), written as ISO 8601 writes it: `P1M`, `P2W`.
public struct SubscriptionPeriod: Hashable, Sendable, CustomStringConvertible {
    public enum Unit: Character, Sendable, CaseIterable {
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"
    }

    /// How many of the unit; 1 or more.
    public let value: Int
    public let unit: Unit

    /// - Returns: nil unless the text is `P`, a number from 1 to 999 and one of D, W, M and Y.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }), text.first == "P", let last = text.last,
            let unit = Unit(rawValue: last), let value = Int(text.dropFirst().dropLast()), (1...999).contains(value)
        else { return nil }
        self.value = value
        self.unit = unit
    }

    public var description: String { "P\(value)\(unit.rawValue)" }

    /// The same for people, after "every": `month`, `3 months`.
    public var words: String {
        let name =
            switch unit {
            case .day: "day"
            case .week: "week"
            case .month: "month"
            case .year: "year"
            }
        return value == 1 ? name : "\(value) \(name)s"
    }
}

extension SubscriptionPeriod: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let period = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is no period")
        }
        self = period
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
