import Proofs

/// The retry schedule of mails. A mail is given up after two hours, because its reader has probably asked for another one.
package enum MailSchedule {
    package static let backoff = Backoff(delays: [10, 60, 300, 900, 1800, 3600])

    /// The age at which a mail is given up, in seconds, regardless of the number of attempts. The service may have been down.
    static let maximumAge: Int64 = 3 * 60 * 60
}
