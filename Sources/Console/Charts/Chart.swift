/// A chart over periods, drawn as SVG. Values go in and HTML comes out. Style classes give the colours, so it follows the
/// light and the dark style.
package struct Chart: Sendable {
    package enum Kind: Sendable {
        /// A line for each series.
        case lines
        /// Areas that are stacked.
        case areas
        /// Bars that are stacked: positive values upwards, negative ones downwards.
        case bars
    }

    /// The largest number of series with a colour of their own.
    static let maximumSeries = 6
    private static let maximumLabels = 8

    let name: Phrase
    let kind: Kind
    let unit: ChartUnit
    let periods: [ChartPeriod]
    let series: [ChartSeries]

    package init(_ name: Phrase, _ kind: Kind, unit: ChartUnit, periods: [ChartPeriod], series: [ChartSeries]) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.periods = periods
        self.series = series
    }

    /// The drawing and its legend.
    ///
    /// - Parameter identifier: The identifier of the drawing's title, unique on the page.
    @HTMLBuilder package func html(identifier: String) -> HTML {
        let frame = ChartFrame(scale: ChartScale(covering: extent, minimumStep: unit.minimumStep), count: periods.count)
        svg(
            .class("chart"), .role("img"), HTMLAttribute("aria-labelledby", identifier),
            HTMLAttribute("viewBox", "0 0 \(SVG.number(ChartFrame.width)) \(SVG.number(ChartFrame.height))")
        ) {
            Console.title(.id(identifier)) { name }
            for (index, period) in periods.enumerated() where !period.isComplete {
                SVG.rectangle(
                    frame.start(index), frame.topEdge, width: frame.slot,
                    height: frame.bottomEdge - frame.topEdge, class: "shade")
            }
            ChartAxes(frame: frame, unit: unit, periods: periods, maximumLabels: Self.maximumLabels).html
            marks(frame)
            for index in periods.indices {
                SVG.rectangle(
                    frame.start(index), frame.topEdge, width: frame.slot,
                    height: frame.bottomEdge - frame.topEdge, class: "slot", title: tooltip(index))
            }
        }
        if series.count > 1 { legend }
    }

    private func marks(_ frame: ChartFrame) -> HTML {
        let marks = ChartMarks(frame: frame, periods: periods, series: series.map { $0.points.map(\.value) })
        return switch kind {
        case .lines: marks.lines
        case .areas: marks.areas
        case .bars: marks.bars
        }
    }

    /// The values that the scale covers: those of the series, or of the stacks.
    private var extent: [Double] {
        let columns = periods.indices.map { index in series.compactMap { $0.points[index].value } }
        guard kind != .lines else { return columns.flatMap(\.self) }
        return columns.flatMap { values in
            [values.filter { $0 > 0 }.reduce(0, +), values.filter { $0 < 0 }.reduce(0, +)]
        }
    }

    /// The values of a period.
    private func tooltip(_ index: Int) -> HTML {
        var tooltip = plain(periods[index].name)
        for series in series {
            tooltip.nodes.append(.text("\n"))
            if self.series.count > 1 { tooltip.nodes += [.phrase(series.name), .text(": ")] }
            tooltip.nodes.append(.phrase(series.points[index].text))
        }
        return tooltip
    }

    private var legend: HTML {
        ul(.class("legend")) {
            for (index, series) in series.enumerated() {
                li {
                    svg(HTMLAttribute("viewBox", "0 0 10 10"), HTMLAttribute("aria-hidden", "true")) {
                        SVG.rectangle(0, 0, width: 10, height: 10, class: "fill-\(index % Self.maximumSeries + 1)")
                    }
                    bdi { series.name }
                }
            }
        }
    }
}

/// A period of a chart.
package struct ChartPeriod: Sendable {
    /// The short name below the axis.
    let label: Phrase
    /// The name in the table and in tooltips.
    let name: String
    /// False for a period that is not over.
    let isComplete: Bool

    package init(label: Phrase, name: String, isComplete: Bool = true) {
        self.label = label
        self.name = name
        self.isComplete = isComplete
    }
}

/// The values of a chart under one name.
package struct ChartSeries: Sendable {
    package struct Point: Sendable {
        /// Nil for a period without a value, such as a rate of nothing.
        let value: Double?
        /// The exact value, for the table and for tooltips.
        let text: Phrase

        package init(_ value: Double?, _ text: Phrase) {
            self.value = value
            self.text = text
        }
    }

    let name: Phrase
    /// A point for each period.
    let points: [Point]

    package init(_ name: Phrase, _ points: [Point]) {
        self.name = name
        self.points = points
    }
}

extension Chart {
    /// The values of the chart as a table, newest first.
    package var table: HTML {
        div(.class("scroll"), .role("region"), HTMLAttribute("tabindex", "0"), .ariaLabel(name)) {
            Console.table {
                caption(.class("hidden")) { name }
                thead {
                    tr {
                        th(.scope("col")) { "Period" }
                        for series in series { th(.scope("col"), .class("number")) { bdi { series.name } } }
                    }
                }
                tbody {
                    for index in periods.indices.reversed() {
                        tr {
                            th(.scope("row")) {
                                plain(periods[index].name)
                                if !periods[index].isComplete { also(Shown.badge("not over")) }
                            }
                            for series in series { td(.class("number")) { series.points[index].text } }
                        }
                    }
                }
            }
        }
    }
}
