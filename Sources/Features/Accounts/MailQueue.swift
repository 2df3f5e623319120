import Ledger
import Proofs

/// The use cases of mail senders.
package struct MailQueue: Sendable {
    /// The lease of a mail, in seconds. After it, another sender may take the mail.
    static let lease: Int64 = 60
    /// The retention of sent and given-up mails and of expired links, in seconds.
    static let memory: Int64 = 7 * 86_400

    package let ledger: Ledger
    private let clock: any WallClock
    private let randomness: Randomness

    package init(ledger: Ledger, clock: any WallClock, randomness: Randomness) {
        self.ledger = ledger
        self.clock = clock
        self.randomness = randomness
    }

    package func now() -> Timestamp { clock.now() }

    /// Takes due mails. The sender must send them and record the results.
    package func lease(upTo limit: Int) async throws -> [LeasedMail] {
        let now = clock.now()
        let due = try await ledger.read { try $0.dueMails(at: now, limit: limit) }
        guard !due.isEmpty else { return [] }
        return try await ledger.write { try $0.lease(due, at: now, until: now.adding(seconds: Self.lease)) }
    }

    /// The result of an attempt that ends now.
    package func result(of mail: QueuedMail, _ outcome: MailOutcome) -> MailResult {
        MailResult(of: mail, outcome, at: clock.now(), randomness: randomness)
    }

    package func record(_ results: [MailResult]) async throws {
        try await ledger.write { try $0.record(results) }
    }

    /// Deletes old mails and links.
    package func deleteExpired() async throws {
        let now = clock.now()
        try await ledger.write { try $0.deleteMails(before: now.adding(seconds: -Self.memory), at: now) }
    }
}

/// The outcome of an attempt to send a mail.
package enum MailOutcome: Hashable, Sendable {
    case sent
    /// The mail cannot be sent now, but may be later.
    case failed(code: String)
    /// The mail can never be sent, for example because the mailbox does not exist.
    case refused(code: String)
}

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

/// The retry schedule of mails. A mail is given up after two hours, because its reader has probably asked for another one.
package enum MailSchedule {
    package static let backoff = Backoff(delays: [10, 60, 300, 900, 1800, 3600])

    /// The age at which a mail is given up, in seconds, regardless of the number of attempts. The service may have been down.
    static let maximumAge: Int64 = 3 * 60 * 60
}

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
