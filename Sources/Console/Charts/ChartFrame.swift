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
