import Commerce

/// When a message is tried again that has not arrived: after pauses that grow, for three days.
public enum WebhookSchedule {
    /// Seconds after each attempt.
    package static let pauses: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    /// Up to which part of it a pause is longer, by chance, so that what has failed together does not come back together.
    private static let spread: Int64 = 10

    /// - Parameter attempts: How often it was tried.
    /// - Returns: nil where that was often enough.
    package static func next(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        guard pauses.indices.contains(attempts - 1) else { return nil }
        let pause = pauses[attempts - 1] * 1000
        let chance = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: moment.millisecondsSince1970 + pause + pause / spread * chance / 0xFFFF)
    }
}
