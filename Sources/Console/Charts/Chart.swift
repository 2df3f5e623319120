/// A chart over periods, drawn as SVG. Values go in and HTML comes out. Style classes give the colours, so it follows the
/// light and the dark style.
package struct Chart: Sendable {
    package enum Kind: Sendable {
        case lines
        case areas
        /// Bars that are stacked: positive values upwards, negative ones downwards.
        case bars
    }

    /// A period: the short name below the axis, the name in the table and in tooltips, and false if it is not over.
    package typealias Period = (label: Phrase, name: String, isComplete: Bool)

    /// The values under one name: a point for each period.
    package typealias Series = (name: Phrase, points: [Point])

    /// A value, and its exact text for the table and for tooltips. The value is nil in a period without one, such as a rate
    /// of nothing.
    package typealias Point = (value: Double?, text: Phrase)

    /// The largest number of series with a colour of their own.
    static let maximumSeries = 6

    let name: Phrase
    let kind: Kind
    let unit: ChartUnit
    let periods: [Period]
    let series: [Series]
    /// The lines over the series, such as the net of a movement.
    let lines: [Series]
    /// The scale of the series, or of their stacks, and of the lines.
    let scale: ChartScale

    package init(
        _ name: Phrase, _ kind: Kind, unit: ChartUnit, periods: [Period], series: [Series], lines: [Series] = []
    ) {
        (self.name, self.kind, self.unit, self.periods) = (name, kind, unit, periods)
        (self.series, self.lines) = (series, lines)
        let columns = periods.indices.map { index in series.compactMap { $0.points[index].value } }
        let values =
            kind == .lines
            ? columns.flatMap(\.self)
            : columns.flatMap { [$0.filter { $0 > 0 }.reduce(0, +), $0.filter { $0 < 0 }.reduce(0, +)] }
        let others = lines.flatMap { $0.points.compactMap(\.value) }
        scale = ChartScale(covering: values + others, minimumStep: unit.minimumStep)
    }

    /// The drawing and its legend.
    ///
    /// - Parameter identifier: The identifier of the drawing's title, unique on the page.
    @HTMLBuilder package func html(identifier: String) -> HTML {
        svg(
            .class("chart"), .role("img"), HTMLAttribute("aria-labelledby", identifier),
            HTMLAttribute("viewBox", "0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))")
        ) {
            Console.title(.id(identifier)) { name }
            for index in periods.indices where !periods[index].isComplete { band(index, class: "shade") }
            axes
            switch kind {
            case .lines: strokes(of: series, from: 0)
            case .areas: areas
            case .bars: bars
            }
            strokes(of: lines, from: series.count)
            for index in periods.indices { band(index, class: "slot", title: tooltip(index)) }
        }
        if shown.count > 1 { legend }
    }

    private var shown: [Series] { series + lines }

    private var isWide: Bool { shown.count > 2 }

    /// The whole height of a period.
    private func band(_ index: Int, class names: String, title: HTML? = nil) -> HTML {
        SVG.rectangle(
            start(index), Self.topEdge, width: slot, height: Self.bottomEdge - Self.topEdge, class: names, title: title)
    }

    private func tooltip(_ index: Int) -> HTML {
        var tooltip = plain(periods[index].name)
        for series in shown {
            tooltip.nodes.append(.text("\n"))
            if shown.count > 1 { tooltip.nodes += [.phrase(series.name), .text(": ")] }
            tooltip.nodes.append(.phrase(series.points[index].text))
        }
        return tooltip
    }

    private var legend: HTML {
        ul(.class("legend")) {
            for (index, series) in shown.enumerated() {
                li {
                    svg(HTMLAttribute("viewBox", "0 0 10 10"), HTMLAttribute("aria-hidden", "true")) {
                        SVG.rectangle(
                            0, 0, width: 10, height: 10,
                            class: index < self.series.count ? "fill-\(Self.color(index))" : "other")
                    }
                    bdi { series.name }
                }
            }
        }
    }

    /// The values of the chart as a table, newest first.
    package var table: HTML {
        Listing.frame(name) {
            th(.scope("col")) { "Period" }
            for series in shown { th(.scope("col"), .class("number")) { bdi { series.name } } }
        } rows: {
            for index in periods.indices.reversed() {
                tr {
                    th(.scope("row")) {
                        plain(periods[index].name)
                        if !periods[index].isComplete { also(Shown.badge("not over")) }
                    }
                    for series in shown {
                        // On a phone, more than two columns do not fit, and a row is a card.
                        td(.class("number"), isWide ? HTMLAttribute("data-label", series.name) : nil) {
                            series.points[index].text
                        }
                    }
                }
            }
        }
    }
}

/// The geometry of a chart, in the units of its view box.
extension Chart {
    static let width = 680.0
    static let height = 300.0
    static let (leftEdge, rightEdge, topEdge, bottomEdge) = (64.0, width - 8, 12.0, height - 36)
    private static let maximumBarWidth = 44.0
    private static let maximumLabels = 8

    private typealias Place = (x: Double, y: Double)

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
