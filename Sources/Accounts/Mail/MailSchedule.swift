import Commerce

/// The retry schedule of mails. A mail is given up after two hours, because its reader has probably asked for another one.
public enum MailSchedule {
    /// The delays after each attempt, in seconds.
    package static let retryDelays: [Int64] = [10, 60, 300, 900, 1800, 3600]
    /// The share of a pause that is added at random (jitter), so that mails that failed together are not retried together.
    private static let jitterDivisor: Int64 = 10

    /// The age at which a mail is given up, in seconds, regardless of the number of attempts. The service may have been down.
    static let maximumAge: Int64 = 3 * 60 * 60

    /// - Parameter attempts: The number of attempts.
    /// - Returns: Nil after the last attempt.
    package static func next(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        guard retryDelays.indices.contains(attempts - 1) else { return nil }
        let pause = retryDelays[attempts - 1] * 1000
        let jitter = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: moment.millisecondsSince1970 + pause + pause / jitterDivisor * jitter / 0xFFFF)
    }
}
