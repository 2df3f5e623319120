/// How often something took how long.
package struct Histogram: Sendable {
    /// Upper bounds in seconds, each included: from a signature's time to a request that is given up.
    package static let bounds = [
        0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// For each bound, how many were above the bound before it and not above this one; at the end, those above all.
    private var counts = [Int](repeating: 0, count: Self.bounds.count + 1)
    /// Seconds.
    private(set) var sum = 0.0

    package mutating func record(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }

    /// For each bound, how many were not above it; at the end, all.
    package var cumulativeCounts: [Int] {
        var total = 0
        return counts.map { count in
            total += count
            return total
        }
    }
}
