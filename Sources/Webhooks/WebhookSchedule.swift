import Commerce

/// The backoff of failed deliveries: growing delays for three days.
public enum WebhookSchedule {
    /// The pause after each attempt, in seconds.
    package static let retryDelays: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    /// The divisor of the largest jitter. A pause is randomly longer by at most this part, so that deliveries that failed
    /// together are not retried together.
    private static let jitterDivisor: Int64 = 10

    /// The time of the next attempt.
    ///
    /// - Parameter attempts: The number of attempts so far.
    /// - Returns: Nil after the last attempt.
    package static func next(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        guard retryDelays.indices.contains(attempts - 1) else { return nil }
        let pause = retryDelays[attempts - 1] * 1000
        let jitter = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: moment.millisecondsSince1970 + pause + pause / jitterDivisor * jitter / 0xFFFF)
    }
}
