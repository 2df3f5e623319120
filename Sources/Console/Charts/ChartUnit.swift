/// The unit of a chart's values.
package enum ChartUnit: Sendable {
    case count
    /// Milliunits of a currency.
    case money
    /// Hundredths.
    case percent

    /// The smallest distance of two ticks.
    var minimumStep: Double {
        switch self {
        case .count: 1
        case .money: 10
        case .percent: 0.1
        }
    }

    /// A label of the axis, as short as possible.
    package func label(_ value: Double) -> String {
        switch self {
        case .count: Self.short(value)
        case .money: Self.short(value / 1000)
        case .percent: Self.short(value) + "%"
        }
    }

    /// A number with at most two decimals; a large one in thousands (K), millions (M), billions (B) or trillions (T).
    private static func short(_ value: Double) -> String {
        let magnitude = value.magnitude
        let sign = value < 0 ? "-" : ""
        guard magnitude >= 10_000 else { return sign + decimal(magnitude) }
        let units: [(size: Double, name: String)] = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")]
        let unit = units.first { $0.size <= magnitude } ?? (1e3, "K")
        return sign + decimal(magnitude / unit.size) + unit.name
    }

    private static func decimal(_ value: Double) -> String {
        let hundredths = Int64((min(value, 1e15) * 100).rounded())
        let whole = Shown.digits(hundredths / 100)
        let rest = hundredths % 100
        guard rest > 0 else { return whole }
        return "\(whole).\(rest < 10 ? "0" : "")\(rest % 10 == 0 ? rest / 10 : rest)"
    }
}
