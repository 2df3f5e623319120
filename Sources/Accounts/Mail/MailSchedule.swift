import Commerce

/// The times at which a mail is tried again. After two hours it is given up: its reader has long asked for another one.
public enum MailSchedule {
    /// The seconds after each attempt.
    package static let pauses: [Int64] = [10, 60, 300, 900, 1800, 3600]
    /// The part of a pause by which it is longer at random, so that mails that failed together do not come back together.
    private static let spread: Int64 = 10

    /// The age, in seconds, at which a mail is given up, however often it was tried: a service may have been down.
    static let maximumAge: Int64 = 3 * 60 * 60

    /// - Parameter attempts: The number of attempts.
    /// - Returns: nil after the last attempt.
    package static func next(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        guard pauses.indices.contains(attempts - 1) else { return nil }
        let pause = pauses[attempts - 1] * 1000
        let chance = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: moment.millisecondsSince1970 + pause + pause / spread * chance / 0xFFFF)
    }
}
