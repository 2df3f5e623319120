import Features
import Proofs

/// The values of figures as people read them.
package enum FigureText {
    /// An amount in units of its currency: `-KRW 1,200`.
    package static func money(_ milliunits: Int64, _ currency: String) -> String {
        let magnitude = Int64(min(milliunits.magnitude, UInt64(Int64.max)))
        return (milliunits < 0 ? "-" : "") + Price(milliunits: magnitude, currency: currency).formatted
    }

    /// An amount in whole units of its currency, for a card: `KRW 1,226,283` for a sum of 1,226,283.325 won.
    static func wholeMoney(_ milliunits: Int64, _ currency: String) -> String {
        let isLarge = milliunits.magnitude >= 100_000
        return money(isLarge ? milliunits - milliunits % 1000 : milliunits, currency)
    }

    /// A share in percent with one decimal: `12.5%`. Nil for a share of nothing.
    package static func percent(_ numerator: Int64, of denominator: Int64) -> String? {
        guard let percent = percentage(numerator, of: denominator) else { return nil }
        let tenths = Int64((percent * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)%"
    }

    /// A share in percent. Nil for a share of nothing.
    static func percentage(_ numerator: Int64, of denominator: Int64) -> Double? {
        guard denominator > 0 else { return nil }
        let percent = Double(numerator) / Double(denominator) * 100
        return min(max(percent, -1e12), 1e12)
    }

    /// The points of periods as one: the sum of the values, and of the denominators.
    static func total(_ points: [FigureAnswer.Point]) -> (value: Int64, denominator: Int64) {
        points.reduce((0, 0)) { ($0.0 &+ $1.value, $0.1 &+ ($1.denominator ?? 0)) }
    }
}
