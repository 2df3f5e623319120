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

    /// The series, and the lines after them.
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
