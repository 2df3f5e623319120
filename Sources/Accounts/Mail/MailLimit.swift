import Commerce

/// The limits on mails, so that nobody can fill a mailbox by way of the service.
public enum MailLimit {
    /// Mails to one address in an hour, whether it has an account or not.
    public static let perAddress = 5
    /// Mails about one account in an hour.
    public static let perAccount = 10
    /// The hour, in seconds.
    static let window: Int64 = 3600

    /// The mails asked for to one address in an hour.
    package struct Count: Hashable, Sendable {
        package let beganAt: Timestamp
        package let mails: Int

        package init(beganAt: Timestamp, mails: Int) {
            self.beganAt = beganAt
            self.mails = mails
        }
    }

    /// The count after one more mail.
    ///
    /// - Parameter count: nil for an address without a count.
    /// - Returns: nil if the address has had enough.
    package static func adding(to count: Count?, at moment: Timestamp) -> Count? {
        guard let count, moment < count.beganAt.adding(seconds: window), count.beganAt <= moment else {
            return Count(beganAt: moment, mails: 1)
        }
        return count.mails < perAddress ? Count(beganAt: count.beganAt, mails: count.mails + 1) : nil
    }
}
