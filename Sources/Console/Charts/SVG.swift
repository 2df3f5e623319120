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
