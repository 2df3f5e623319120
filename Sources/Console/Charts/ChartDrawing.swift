/// The geometry of a chart, in the units of its view box.
extension Chart {
    static let width = 680.0
    static let height = 300.0
    static let (leftEdge, rightEdge, topEdge, bottomEdge) = (64.0, width - 8, 12.0, height - 36)
    private static let maximumBarWidth = 44.0
    private static let maximumLabels = 8

    private typealias Place = (x: Double, y: Double)

    /// The width of a period.
    var slot: Double { (Self.rightEdge - Self.leftEdge) / Double(max(periods.count, 1)) }

    func start(_ index: Int) -> Double { Self.leftEdge + slot * Double(index) }

    private func middle(_ index: Int) -> Double { start(index) + slot / 2 }

    private func y(_ value: Double) -> Double {
        Self.bottomEdge - (Self.bottomEdge - Self.topEdge) * scale.fraction(of: value)
    }

    /// The number of a series' colour in the style sheet.
    static func color(_ number: Int) -> Int { number % maximumSeries + 1 }

    /// The lines and labels around the values.
    @HTMLBuilder var axes: HTML {
        for tick in scale.ticks {
            level(tick)
            label(Self.leftEdge - 6, y(tick) + 4, anchor: "end", unit.phrase(tick), class: "")
        }
        // The periods with a label are evenly spread.
        let step = max(1, (periods.count + Self.maximumLabels - 1) / Self.maximumLabels)
        for (order, index) in stride(from: 0, to: periods.count, by: step).enumerated() {
            // A phone has room for every second label.
            label(
                middle(index), Self.bottomEdge + 22, anchor: "middle", periods[index].label,
                class: order.isMultiple(of: 2) ? "" : "wide")
        }
    }

    private func level(_ tick: Double) -> HTML {
        let height = SVG.number(y(tick))
        return SVG.line(
            HTMLAttribute("x1", SVG.number(Self.leftEdge)), HTMLAttribute("x2", SVG.number(Self.rightEdge)),
            HTMLAttribute("y1", height), HTMLAttribute("y2", height), .class(tick == 0 ? "axis" : "grid"))
    }

    private func label(_ x: Double, _ y: Double, anchor: String, _ phrase: Phrase, class names: String) -> HTML {
        SVG.text(
            HTMLAttribute("x", SVG.number(x)), HTMLAttribute("y", SVG.number(y)),
            HTMLAttribute("text-anchor", anchor), names.isEmpty ? nil : .class(names)
        ) { phrase }
    }

    /// A line for each series, with a gap where a value is missing.
    ///
    /// - Parameter first: The number of the first one among all series and lines.
    @HTMLBuilder func strokes(of series: [Series], from first: Int) -> HTML {
        for (number, series) in zip(first..., series) {
            for run in series.points.indices.split(whereSeparator: { series.points[$0].value == nil }) {
                stroke(line(through: run.map { (middle($0), y(series.points[$0].value ?? 0)) }), number)
            }
        }
    }

    /// The places of a line; a short line for a single value.
    private func line(through places: [Place]) -> [Place] {
        guard let place = places.first, places.count == 1 else { return places }
        let half = min(slot / 3, 8)
        return [(place.x - half, place.y), (place.x + half, place.y)]
    }

    /// Areas on top of each other, from the start of the first period to the end of the last.
    @HTMLBuilder var areas: HTML {
        // Zero, and the sums of the series up to each one.
        let levels = series.reduce(into: [[Double](repeating: 0, count: periods.count)]) { levels, series in
            levels.append(zip(levels[levels.count - 1], series.points).map { $0 + ($1.value ?? 0) })
        }
        for number in series.indices {
            let (lower, upper) = (outline(levels[number]), outline(levels[number + 1]))
            SVG.path(
                HTMLAttribute("d", SVG.commands(upper + lower.reversed()) + " Z"),
                .class("area fill-\(Self.color(number))"))
            stroke(upper, number)
        }
    }

    /// Bars on top of each other: positive values above zero, negative ones below.
    @HTMLBuilder var bars: HTML {
        let width = min(slot * 0.72, Self.maximumBarWidth)
        for index in periods.indices {
            for bar in stack(index) {
                let (high, low) = (y(bar.range.upperBound), y(bar.range.lowerBound))
                SVG.rectangle(
                    middle(index) - width / 2, high, width: width, height: low - high,
                    class: "fill-\(Self.color(bar.series))" + (periods[index].isComplete ? "" : " incomplete"))
            }
        }
    }

    private func stack(_ index: Int) -> [(series: Int, range: ClosedRange<Double>)] {
        var (above, below) = (0.0, 0.0)
        var bars: [(series: Int, range: ClosedRange<Double>)] = []
        for (number, series) in series.enumerated() {
            guard let value = series.points[index].value, value != 0 else { continue }
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

    /// The places of a level that stays the same at both ends.
    private func outline(_ values: [Double]) -> [Place] {
        guard let first = values.first, let last = values.last else { return [] }
        let inner = values.enumerated().map { (middle($0), y($1)) }
        return [(Self.leftEdge, y(first))] + inner + [(Self.rightEdge, y(last))]
    }

    private func stroke(_ places: [Place], _ number: Int) -> HTML {
        SVG.path(
            HTMLAttribute("d", SVG.commands(places)),
            .class("line " + (number < series.count ? "stroke-\(Self.color(number))" : "other")))
    }
}
