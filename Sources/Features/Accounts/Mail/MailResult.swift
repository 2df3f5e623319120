import Proofs

/// The result of an attempt to send a mail, with the next attempt.
public struct MailResult: Hashable, Sendable {
    /// The mail as it was taken for the attempt.
    public let mail: QueuedMail
    public let outcome: MailOutcome
    /// Nil for a mail that was sent or given up.
    public let nextAttemptAt: Timestamp?
    let endedAt: Timestamp

    /// True if the mail was not sent and is not retried.
    public var isGivenUp: Bool { outcome != .sent && nextAttemptAt == nil }

    /// The code of the failure; nil for a sent mail.
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
        case .failed:
            nextAttemptAt = MailSchedule.backoff.next(after: mail.attempts, at: moment, randomness: randomness)
        }
    }
}
