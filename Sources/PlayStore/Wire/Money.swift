import Proofs

/// An amount of money (`google.type.Money`): whole units and billionths of one, both without a value if they are 0.
package struct Money: Codable, Hashable, Sendable {
    /// The billionths of a unit.
    private static let billion: Int64 = 1_000_000_000
    /// The largest amount of a price, in units. A price times a quantity stays in 64 bits of billionths.
    package static let maximumUnits: Int64 = 100_000_000

    /// The ISO 4217 code, such as `USD`.
    package let currencyCode: String
    package var units: Int64Text?
    package var nanos: Int32?

    package init(currencyCode: String, billionths: Int64) {
        self.currencyCode = currencyCode
        let (units, nanos) = billionths.quotientAndRemainder(dividingBy: Self.billion)
        self.units = units == 0 ? nil : Int64Text(value: units)
        self.nanos = nanos == 0 ? nil : Int32(nanos)
    }

    package init(_ price: Price) {
        self.init(currencyCode: price.currency, billionths: price.milliunits * 1_000_000)
    }

    /// The amount in billionths of a unit; nil if it is no price.
    package var billionths: Int64? {
        let (units, nanos) = (units?.value ?? 0, Int64(nanos ?? 0))
        guard (0...Self.maximumUnits).contains(units), (0..<Self.billion).contains(nanos) else { return nil }
        return units * Self.billion + nanos
    }

    /// A share of the amount, rounded down to thousandths of a unit. The smallest unit of no currency is smaller.
    package func share(_ share: Double) -> Money {
        let thousandths = (Double(billionths ?? 0) / 1_000_000 * share).rounded(.down)
        return Money(currencyCode: currencyCode, billionths: Int64(thousandths) * 1_000_000)
    }

    /// The smallest unit of a currency in billionths, such as a cent.
    package static func smallestUnit(of currencyCode: String) -> Int64 {
        let places = Price(milliunits: 0, currency: currencyCode).decimalPlaces
        return (0..<places).reduce(billion) { unit, _ in unit / 10 }
    }

    /// The amount without a share of it, rounded to the smallest unit of the currency.
    package func reduced(by share: Double) -> Money {
        let unit = Self.smallestUnit(of: currencyCode)
        let count = (Double(billionths ?? 0) * (1 - share) / Double(unit)).rounded()
        return Money(currencyCode: currencyCode, billionths: Int64(count) * unit)
    }

    /// The amount in milliunits, rounded down.
    package var price: Price { Price(milliunits: (billionths ?? 0) / 1_000_000, currency: currencyCode) }
}

/// A 64-bit integer in Google's JSON: a string of digits. A number is read, too.
package struct Int64Text: Hashable, Sendable {
    package let value: Int64
}

extension Int64Text: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            value = number
        } else if let number = Int64(try container.decode(String.self)) {
            value = number
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no integer of 64 bits")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

/// A moment in Google's JSON (`google-datetime`): RFC 3339 in UTC.
package struct DateTimeText: Hashable, Sendable {
    package let moment: Timestamp
}

extension DateTimeText: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let moment = Timestamp(rfc3339: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date-time of RFC 3339")
        }
        self.moment = moment
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(moment.rfc3339)
    }
}
