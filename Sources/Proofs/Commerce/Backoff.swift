/// A retry schedule with growing delays and jitter, so that attempts that failed together are not retried together.
public struct Backoff: Sendable {
    /// The divisor of the largest jitter: a delay is randomly longer by at most this part.
    private static let jitterDivisor: Int64 = 10

    /// The delays after each attempt, in seconds.
    package let delays: [Int64]

    package init(delays: [Int64]) {
        self.delays = delays
    }

    /// The time of the next attempt.
    ///
    /// - Parameter attempts: The number of attempts so far.
    /// - Returns: Nil after the last attempt.
    package func next(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = delays[attempts - 1] * 1000
        let jitter = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: moment.millisecondsSince1970 + delay + delay / Self.jitterDivisor * jitter / 0xFFFF)
    }
}
