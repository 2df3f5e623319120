/// The lines and labels around a chart's values.
struct ChartAxes {
    let frame: ChartFrame
    let unit: ChartUnit
    let periods: [ChartPeriod]
    let maximumLabels: Int

    @HTMLBuilder var html: HTML {
        for tick in frame.scale.ticks {
            level(tick)
            label(frame.leftEdge - 6, frame.y(tick) + 4, anchor: "end", Phrase(same: unit.label(tick)), class: "")
        }
        for (order, index) in labelled.enumerated() {
            // A phone has room for every second label.
            label(
                frame.middle(index), frame.bottomEdge + 22, anchor: "middle", periods[index].label,
                class: order.isMultiple(of: 2) ? "" : "wide")
        }
    }

    /// The periods with a label, evenly spread.
    private var labelled: [Int] {
        let step = max(1, (periods.count + maximumLabels - 1) / maximumLabels)
        return Array(stride(from: 0, to: periods.count, by: step))
    }

    private func level(_ tick: Double) -> HTML {
        let y = SVG.number(frame.y(tick))
        return SVG.line(
            HTMLAttribute("x1", SVG.number(frame.leftEdge)), HTMLAttribute("x2", SVG.number(frame.rightEdge)),
            HTMLAttribute("y1", y), HTMLAttribute("y2", y), .class(tick == 0 ? "axis" : "grid"))
    }

    private func label(_ x: Double, _ y: Double, anchor: String, _ phrase: Phrase, class names: String) -> HTML {
        SVG.text(
            HTMLAttribute("x", SVG.number(x)), HTMLAttribute("y", SVG.number(y)),
            HTMLAttribute("text-anchor", anchor), names.isEmpty ? nil : .class(names)
        ) { phrase }
    }
}

/// The geometry of a chart, in the units of its view box.
struct ChartFrame {
    static let width = 680.0
    static let height = 300.0
    private static let (left, right, top, bottom) = (64.0, 8.0, 12.0, 36.0)

    let scale: ChartScale
    /// The number of periods.
    let count: Int

    var leftEdge: Double { Self.left }
    var rightEdge: Double { Self.width - Self.right }
    var topEdge: Double { Self.top }
    var bottomEdge: Double { Self.height - Self.bottom }

    /// The width of a period.
    var slot: Double { (rightEdge - leftEdge) / Double(max(count, 1)) }

    /// The left end of a period.
    func start(_ index: Int) -> Double { leftEdge + slot * Double(index) }

    /// The middle of a period.
    func middle(_ index: Int) -> Double { start(index) + slot / 2 }

    func y(_ value: Double) -> Double { bottomEdge - (bottomEdge - topEdge) * scale.fraction(of: value) }
}

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

    /// Nothing for fewer than two values.
    var html: HTML? {
        guard values.count > 1 else { return nil }
        let scale = ChartScale(covering: values, minimumStep: 1)
        let points = values.enumerated().map { index, value in
            (
                x: 2 + (Self.width - 4) * Double(index) / Double(values.count - 1),
                y: Self.height - 2 - (Self.height - 4) * scale.fraction(of: value)
            )
        }
        return svg(
            .class("chart spark"), HTMLAttribute("aria-hidden", "true"),
            HTMLAttribute("viewBox", "0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))")
        ) {
            SVG.path(HTMLAttribute("d", SVG.commands(points)), .class("line stroke-1"))
        }
    }
}
