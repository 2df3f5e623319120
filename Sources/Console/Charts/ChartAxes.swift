/// The lines and labels around a chart's values.
struct ChartAxes {
    let frame: ChartFrame
    let unit: ChartUnit
    let periods: [ChartPeriod]
    let maximumLabels: Int

    var html: HTML {
        HTML {
            for tick in frame.scale.ticks {
                level(tick)
                label(
                    frame.leftEdge - 6, frame.y(tick) + 4, anchor: "end", Phrase(same: unit.label(tick)), class: "")
            }
            for (order, index) in labelled.enumerated() {
                // A phone has room for every second label.
                label(
                    frame.middle(index), frame.bottomEdge + 22, anchor: "middle", periods[index].label,
                    class: order.isMultiple(of: 2) ? "" : "wide")
            }
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
