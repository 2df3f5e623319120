import Proofs

/// The limits on mails, so that nobody can flood a mailbox through the service.
package enum MailLimit {
    /// The maximum number of mails to one address in an hour. Mails for a password reset and other mails are counted separately.
    package static let perAddress = 5
    /// The maximum number of mails about one account in an hour.
    static let perAccount = 10
    /// The window of the limits, in seconds.
    static let window: Int64 = 3600

    /// The number of mails within an hour, to one address or about one account.
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
    ///   - count: Nil if there was no mail yet.
    ///   - limit: The maximum number of mails in an hour.
    /// - Returns: Nil if the limit is reached.
    package static func adding(to count: Count?, upTo limit: Int, at moment: Timestamp) -> Count? {
        guard let count, moment < count.beganAt.adding(seconds: window), count.beganAt <= moment else {
            return Count(beganAt: moment, mails: 1)
        }
        return count.mails < limit ? Count(beganAt: count.beganAt, mails: count.mails + 1) : nil
    }
}
