/// The vertical scale of a chart: round numbers from below the lowest value to above the highest, with zero.
package struct ChartScale: Hashable, Sendable {
    /// The number of steps that a scale aims at.
    private static let steps = 4.0

    /// The labelled values, lowest first.
    package let ticks: [Double]

    /// - Parameters:
    ///   - values: The values of the chart. Values that are not finite are left out.
    ///   - minimumStep: The smallest distance of two ticks, such as 1 for numbers of customers.
    package init(covering values: some Sequence<Double>, minimumStep: Double) {
        let values = values.filter(\.isFinite)
        let (low, high) = (min(0, values.min() ?? 0), max(0, values.max() ?? 0))
        let step = max(Self.rounded((high - low) / Self.steps), minimumStep)
        let (first, last) = ((low / step).rounded(.down), (high / step).rounded(.up))
        // A chart of zeros has one step.
        let end = max(last, first + 1)
        ticks = stride(from: first, through: end, by: 1).map { $0 * step }
    }

    /// The position of a value between the lowest tick (0) and the highest (1).
    package func fraction(of value: Double) -> Double {
        guard let first = ticks.first, let last = ticks.last, value.isFinite else { return 0 }
        return min(max((value - first) / (last - first), 0), 1)
    }

    /// The next greater one of 1, 2, 5, 10, 20, 50 and so on.
    private static func rounded(_ step: Double) -> Double {
        guard step > 0 else { return 0 }
        var power = 1.0
        while power * 10 <= step { power *= 10 }
        while power > step { power /= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= step } ?? 10 * power
    }
}

/// The elements of the charts, under their names in SVG 2.
enum SVG {
    static let g = Tag("g")
    static let line = Tag("line")
    static let path = Tag("path")
    static let rect = Tag("rect")
    static let text = Tag("text")

    /// A coordinate with at most one decimal.
    static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        let sign = tenths < 0 ? "-" : ""
        let (whole, rest) = (tenths.magnitude / 10, tenths.magnitude % 10)
        return sign + String(whole) + (rest == 0 ? "" : ".\(rest)")
    }

    static func rectangle(
        _ x: Double, _ y: Double, width: Double, height: Double, class names: String, title: HTML? = nil
    ) -> HTML {
        rect(
            HTMLAttribute("x", number(x)), HTMLAttribute("y", number(y)), HTMLAttribute("width", number(width)),
            HTMLAttribute("height", number(height)), .class(names)
        ) {
            if let title { Console.title { title } }
        }
    }

    /// The commands of a path through points.
    static func commands(_ points: [(x: Double, y: Double)]) -> String {
        points.enumerated().map { index, point in
            (index == 0 ? "M" : "L") + number(point.x) + " " + number(point.y)
        }.joined(separator: " ")
    }
}

/// A small line without labels, beside the value that it leads to.
struct Sparkline {
    private static let (width, height) = (220.0, 36.0)

    let values: [Double]
    /// The values of the time before; none without it.
    let earlier: [Double]

    /// Nothing for fewer than two values.
    var html: HTML? {
        guard values.count > 1 else { return nil }
        let scale = ChartScale(covering: values + earlier, minimumStep: 1)
        func commands(_ values: [Double]) -> String {
            let points = values.enumerated().map { index, value in
                (
                    x: 2 + (Self.width - 4) * Double(index) / Double(self.values.count - 1),
                    y: Self.height - 2 - (Self.height - 4) * scale.fraction(of: value)
                )
            }
            return SVG.commands(points)
        }
        return svg(
            .class("chart spark"), HTMLAttribute("aria-hidden", "true"),
            HTMLAttribute("viewBox", "0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))")
        ) {
            if earlier.count > 1 { SVG.path(HTMLAttribute("d", commands(earlier)), .class("line other")) }
            SVG.path(HTMLAttribute("d", commands(values)), .class("line stroke-1"))
        }
    }
}

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

    func phrase(_ value: Double) -> Phrase { Phrase(english: label(value), korean: label(value, in: .korean)) }

    /// A label of the axis, as short as possible.
    package func label(_ value: Double, in language: ConsoleLanguage = .english) -> String {
        switch self {
        case .count: Self.short(value, language)
        case .money: Self.short(value / 1000, language)
        case .percent: Self.short(value, language) + "%"
        }
    }

    /// A number with at most two decimals; a large one in thousands (K), millions (M), billions (B) or trillions (T), in Korean in
    /// ten thousands (만), hundred millions (억) or trillions (조).
    private static func short(_ value: Double, _ language: ConsoleLanguage) -> String {
        let magnitude = value.magnitude
        let sign = value < 0 ? "-" : ""
        guard magnitude >= 10_000 else { return sign + decimal(magnitude) }
        let units: [(size: Double, name: String)] =
            language == .korean
            ? [(1e12, "조"), (1e8, "억"), (1e4, "만")] : [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")]
        let unit = units.first { $0.size <= magnitude } ?? (1, "")
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
