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
