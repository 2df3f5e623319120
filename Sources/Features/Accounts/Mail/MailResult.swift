import Proofs

/// The result of an attempt to send a mail, with the next attempt.
package struct MailResult: Hashable, Sendable {
    /// The mail as it was taken for the attempt.
    package let mail: QueuedMail
    package let outcome: MailOutcome
    /// Nil for a mail that was sent or given up.
    package let nextAttemptAt: Timestamp?
    let endedAt: Timestamp

    /// True if the mail was not sent and is not retried.
    package var isGivenUp: Bool { outcome != .sent && nextAttemptAt == nil }

    /// The code of the failure; nil for a sent mail.
    package var error: String? {
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
