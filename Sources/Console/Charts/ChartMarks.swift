/// The lines, areas or bars of a chart.
struct ChartMarks {
    private static let maximumBarWidth = 44.0

    let frame: ChartFrame
    let periods: [ChartPeriod]
    /// The values of each series, one for each period.
    let series: [[Double?]]

    /// A line for each series, with a gap where a value is missing.
    @HTMLBuilder var lines: HTML {
        for (number, values) in series.enumerated() {
            for run in Self.runs(values) {
                stroke(line(through: run.map { (x: frame.middle($0), y: frame.y(values[$0] ?? 0)) }), number)
            }
        }
    }

    /// The points of a line; a short line for a single value.
    private func line(through points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        guard let point = points.first, points.count == 1 else { return points }
        let half = min(frame.slot / 3, 8)
        return [(point.x - half, point.y), (point.x + half, point.y)]
    }

    /// Areas on top of each other, from the start of the first period to the end of the last.
    var areas: HTML {
        var base = [Double](repeating: 0, count: periods.count)
        var areas: [HTML] = []
        for (number, values) in series.enumerated() {
            let top = zip(base, values).map { $0 + ($1 ?? 0) }
            let (lower, upper) = (outline(base), outline(top))
            areas.append(
                SVG.path(
                    HTMLAttribute("d", SVG.commands(upper + lower.reversed()) + " Z"),
                    .class("area fill-\(color(number))")))
            areas.append(stroke(upper, number))
            base = top
        }
        return HTML { for area in areas { area } }
    }

    /// Bars on top of each other: positive values above zero, negative ones below.
    @HTMLBuilder var bars: HTML {
        let width = min(frame.slot * 0.72, Self.maximumBarWidth)
        for index in periods.indices {
            for bar in stack(index) {
                let (high, low) = (frame.y(bar.range.upperBound), frame.y(bar.range.lowerBound))
                SVG.rectangle(
                    frame.middle(index) - width / 2, high, width: width, height: low - high,
                    class: "fill-\(color(bar.series))" + (periods[index].isComplete ? "" : " incomplete"))
            }
        }
    }

    private func stack(_ index: Int) -> [(series: Int, range: ClosedRange<Double>)] {
        var (above, below) = (0.0, 0.0)
        var bars: [(series: Int, range: ClosedRange<Double>)] = []
        for (number, values) in series.enumerated() {
            guard let value = values[index], value != 0 else { continue }
            if value > 0 {
                bars.append((number, above...above + value))
                above += value
            } else {
                bars.append((number, below + value...below))
                below += value
            }
        }
        return bars
    }

    /// The points of a level that stays the same at both ends.
    private func outline(_ values: [Double]) -> [(x: Double, y: Double)] {
        guard let first = values.first, let last = values.last else { return [] }
        let middle = values.enumerated().map { (x: frame.middle($0), y: frame.y($1)) }
        return [(frame.leftEdge, frame.y(first))] + middle + [(frame.rightEdge, frame.y(last))]
    }

    private func stroke(_ points: [(x: Double, y: Double)], _ number: Int) -> HTML {
        SVG.path(HTMLAttribute("d", SVG.commands(points)), .class("line stroke-\(color(number))"))
    }

    private func color(_ number: Int) -> Int { number % Chart.maximumSeries + 1 }

    /// The runs of places with a value.
    private static func runs(_ values: [Double?]) -> [[Int]] {
        var runs: [[Int]] = []
        var run: [Int] = []
        for (index, value) in values.enumerated() {
            if value != nil {
                run.append(index)
            } else if !run.isEmpty {
                runs.append(run)
                run = []
            }
        }
        return run.isEmpty ? runs : runs + [run]
    }
}

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
