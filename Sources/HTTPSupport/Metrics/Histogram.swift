/// A histogram of durations.
package struct Histogram: Sendable {
    /// The inclusive upper bounds in seconds. They range from the time of a signature to that of an abandoned request.
    package static let bounds = [
        0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// The number of durations for each bound that exceed the previous bound but not this one. The last number is for
    /// those above all bounds.
    private var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    /// The sum of the durations in seconds.
    private(set) var sum = 0.0

    package mutating func record(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    /// The number of durations up to each bound. The last number is for all durations.
    var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
