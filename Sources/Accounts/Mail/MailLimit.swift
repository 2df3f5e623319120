import Commerce

/// The limits on mails, so that nobody can fill a mailbox by way of the service.
public enum MailLimit {
    /// Mails for a new password, and other mails, to one address in an hour.
    public static let perAddress = 5
    /// Mails about one account in an hour.
    public static let perAccount = 10
    /// The hour, in seconds.
    static let window: Int64 = 3600

    /// The mails asked for in an hour, to one address or about one account.
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
    /// - Parameters:
    ///   - count: nil if there was no mail yet.
    ///   - limit: The mails in an hour.
    /// - Returns: nil if there were enough.
    package static func adding(to count: Count?, upTo limit: Int, at moment: Timestamp) -> Count? {
        guard let count, moment < count.beganAt.adding(seconds: window), count.beganAt <= moment else {
            return Count(beganAt: moment, mails: 1)
        }
        return count.mails < limit ? Count(beganAt: count.beganAt, mails: count.mails + 1) : nil
    }
}
