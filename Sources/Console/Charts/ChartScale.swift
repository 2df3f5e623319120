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
