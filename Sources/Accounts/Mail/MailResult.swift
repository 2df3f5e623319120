import Commerce

/// The end of an attempt to send a mail, and what follows from it.
public struct MailResult: Hashable, Sendable {
    /// As it was taken.
    public let mail: QueuedMail
    public let outcome: MailOutcome
    /// nil for a mail that was sent, or is given up.
    public let nextAttemptAt: Timestamp?
    let endedAt: Timestamp

    /// True if the mail is not tried again, although it was not sent.
    public var isGivenUp: Bool { outcome != .sent && nextAttemptAt == nil }

    /// The code of the failure; nil for a mail that was sent.
    public var error: String? {
        switch outcome {
        case .sent: nil
        case .failed(let code), .refused(let code): code
        }
    }

    package init(of mail: QueuedMail, _ outcome: MailOutcome, at moment: Timestamp, randomness: Randomness) {
        self.mail = mail
        self.outcome = outcome
        endedAt = moment
        switch outcome {
        case .sent, .refused: nextAttemptAt = nil
        case .failed: nextAttemptAt = MailSchedule.next(after: mail.attempts, at: moment, randomness: randomness)
        }
    }
}
