import Synchronization

/// The durations of the last minutes, for people who look at a running service. `Histogram` counts since the start.
///
/// Its memory is fixed: a count for each step of each minute. A step is an eighth of a power of two, so a quantile is at most an
/// eighth too high.
package final class RecentDurations: Sendable {
    /// The numbers of a period.
    package struct Summary: Hashable, Sendable {
        package let count: Int
        /// The duration that half of the durations do not exceed; nil without durations.
        package let median: Duration?
        /// The duration that 99 % of the durations do not exceed; nil without durations.
        package let percentile99: Duration?
        package let maximum: Duration?
    }

    /// The number of past minutes.
    package static let minutes = 15
    private static let stepsOfDoubling = 8
    /// The largest distinguished duration is 2^26 µs, about a minute.
    private static let steps = 26 * stepsOfDoubling

    private struct Minute {
        /// The number of the minute since the start.
        var number: Int64
        var counts = [UInt32](repeating: 0, count: steps + 1)
        var maximum = Duration.zero
    }

    private let start = ContinuousClock.now
    private let ring: Mutex<[Minute]>

    package init() {
        ring = Mutex((0...Int64(Self.minutes)).map { _ in Minute(number: -1) })
    }

    package func record(_ duration: Duration, at moment: ContinuousClock.Instant = .now) {
        let number = minute(of: moment)
        let step = Self.step(of: duration)
        ring.withLock { ring in
            let index = Int(number) % ring.count
            if ring[index].number != number { ring[index] = Minute(number: number) }
            ring[index].counts[step] &+= 1
            ring[index].maximum = max(ring[index].maximum, duration)
        }
    }

    /// The durations of this minute and of the full minutes before it.
    ///
    /// - Parameter count: The number of full minutes; at most `minutes`.
    package func summary(ofMinutes count: Int, at moment: ContinuousClock.Instant = .now) -> Summary {
        let now = minute(of: moment)
        let recent = ring.withLock { ring in
            ring.filter { $0.number >= 0 && (now - Int64(count)...now).contains($0.number) }
        }
        var counts = [Int](repeating: 0, count: Self.steps + 1)
        for minute in recent {
            for (step, count) in minute.counts.enumerated() { counts[step] += Int(count) }
        }
        let total = counts.reduce(0, +)
        let maximum = recent.map(\.maximum).max()
        func quantile(_ share: Double) -> Duration? {
            guard total > 0, let maximum else { return nil }
            let wanted = Int((share * Double(total)).rounded(.up))
            var sum = 0
            let step = counts.firstIndex { count in
                sum += count
                return sum >= wanted
            }
            return step.map { min(Self.upperBound(of: $0), maximum) }
        }
        return Summary(
            count: total, median: quantile(0.5), percentile99: quantile(0.99), maximum: total > 0 ? maximum : nil)
    }

    private func minute(of moment: ContinuousClock.Instant) -> Int64 {
        max(0, (moment - start).components.seconds / 60)
    }

    /// The step of a duration: the floor of its binary logarithm in microseconds, in eighths.
    private static func step(of duration: Duration) -> Int {
        let microseconds = duration / .microseconds(1)
        guard microseconds >= 1 else { return 0 }
        let exponent = Int(microseconds.exponent)
        let fraction = Int((microseconds.significand - 1) * Double(stepsOfDoubling))
        return min(steps, exponent * stepsOfDoubling + fraction + 1)
    }

    /// The exclusive upper bound of a step.
    private static func upperBound(of step: Int) -> Duration {
        guard step < steps else { return .seconds(Int64.max) }
        let (exponent, fraction) = (step / stepsOfDoubling, step % stepsOfDoubling)
        return .microseconds(Double(1 << exponent) * (1 + Double(fraction) / Double(stepsOfDoubling)))
    }
}
