import Ledger
import Proofs
import Vocabulary

/// The use cases of mail senders.
package struct MailQueue: Sendable {
    /// The lease of a mail, in seconds. After it, another sender may take the mail.
    private static let lease: Int64 = 60
    /// The retention of sent and given-up mails and of expired links, in seconds.
    private static let memory: Int64 = 7 * 86_400

    package let ledger: Ledger
    package let clock: any WallClock
    let randomness: Randomness

    /// The due mails, the longest waiting first.
    package func due(upTo limit: Int) async throws -> [QueuedMail] {
        let now = clock.now()
        return try await ledger.read {
            try $0.mails("next_attempt_at <= $1 ORDER BY next_attempt_at, mail_id LIMIT $2", [now, limit])
        }
    }

    /// Begins an attempt for each mail, with a new link, so that no other sender sends it meanwhile.
    ///
    /// - Returns: The mails, without those that another sender has taken or that were deleted.
    package func lease(_ mails: [QueuedMail]) async throws -> [LeasedMail] {
        let now = clock.now()
        return try await ledger.write { transaction in
            try transaction.database.execute(
                """
                UPDATE mail SET next_attempt_at = NULL, error = 'tooOld'
                WHERE next_attempt_at IS NOT NULL AND created_at < $1
                """,
                [now.adding(seconds: -MailSchedule.maximumAge)])
            return try mails.compactMap { mail -> LeasedMail? in
                let end = now.adding(seconds: Self.lease)
                let isTaken =
                    try transaction.database.execute(
                        """
                        UPDATE mail SET attempts = attempts + 1, next_attempt_at = $1
                        WHERE user_id = $2 AND mail_id = $3 AND next_attempt_at = $4
                        """,
                        [end, mail.user, mail.identifier, mail.nextAttemptAt]) == 1
                guard isTaken else { return nil }
                var leased = mail
                leased.attempts += 1
                leased.nextAttemptAt = end
                let secret = AccountLink.secret(of: mail.user, transaction.randomness)
                let link = AccountLink(mail.purpose, to: mail.email, at: now)
                try transaction.database.insert(
                    into: "account_link",
                    ["user_id", "digest", "purpose", "email_lowercase", "created_at", "ends_at"],
                    [[mail.user, secret.digest, link.purpose, link.emailLowercase, now, link.endsAt]])
                let change = mail.purpose == .addressChange ? try transaction.addressChange(of: mail.user) : nil
                return LeasedMail(mail: leased, token: secret, linkEndsAt: link.endsAt, newEmail: change?.email)
            }
        }
    }

    /// The result of an attempt that ends now.
    package func result(of mail: QueuedMail, _ outcome: MailOutcome) -> MailResult {
        let now = clock.now()
        return MailResult(
            mail: mail, outcome: outcome,
            nextAttemptAt: outcome.nextAttempt(after: mail.attempts, at: now, randomness: randomness), endedAt: now)
    }

    package func record(_ results: [MailResult]) async throws {
        try await ledger.write { transaction in
            for result in results {
                let mail = result.mail
                // Another sender may have taken the mail meanwhile.
                try transaction.database.execute(
                    """
                    UPDATE mail SET next_attempt_at = $1, sent_at = $2, error = $3
                    WHERE user_id = $4 AND mail_id = $5 AND next_attempt_at = $6
                    """,
                    [
                        result.nextAttemptAt, result.outcome == .sent ? result.endedAt : nil, result.error, mail.user,
                        mail.identifier, mail.nextAttemptAt,
                    ])
            }
        }
    }

    /// Deletes old mails and links, and expired counts.
    package func deleteExpired() async throws {
        let now = clock.now()
        try await ledger.write { transaction in
            for (condition, age) in [
                ("mail WHERE next_attempt_at IS NULL AND created_at <= $1", Self.memory),
                ("mail_count WHERE began_at <= $1", MailLimit.window),
                ("account_link WHERE ends_at <= $1", Self.memory),
                ("address_change WHERE asked_at <= $1", Self.memory),
            ] {
                try transaction.database.execute("DELETE FROM \(condition)", [now.adding(seconds: -age)])
            }
        }
    }
}

/// A mail in the queue, waiting or sent.
///
/// It has no text and no secret. Each attempt creates a new secret for the link, in the commit that begins the attempt. The
/// ledger stores only the secret's digest.
package struct QueuedMail: Hashable, Sendable {
    let user: Int64
    /// A random identifier, the same for each attempt.
    package let identifier: String
    package let purpose: LinkPurpose
    /// The recipient, as the user wrote the address.
    package let email: String
    /// The language of the text, such as `en`.
    package let language: String
    package let createdAt: Timestamp
    /// The number of attempts that have begun.
    package fileprivate(set) var attempts: Int
    /// Nil for a mail that was sent or given up.
    package fileprivate(set) var nextAttemptAt: Timestamp?
    package let sentAt: Timestamp?
    /// The code of the last failure; nil if there was none.
    package let lastError: String?
}

/// A mail that a sender has taken for an attempt, with the secret of its link.
package struct LeasedMail: Sendable {
    package let mail: QueuedMail
    package let token: Secret
    package let linkEndsAt: Timestamp
    /// The new address of a change; nil for another mail.
    package let newEmail: String?
}

package enum MailOutcome: Hashable, Sendable {
    case sent
    /// The mail cannot be sent now, but may be later.
    case failed(code: String)
    /// The mail can never be sent, for example because the mailbox does not exist.
    case refused(code: String)

    /// The next attempt; nil for a mail that was sent or is given up.
    ///
    /// - Parameter attempts: The number of attempts so far.
    package func nextAttempt(after attempts: Int, at moment: Timestamp, randomness: Randomness) -> Timestamp? {
        switch self {
        case .sent, .refused: nil
        case .failed: moment.retry(after: attempts, delays: MailSchedule.delays, randomness: randomness)
        }
    }
}

/// The result of an attempt to send a mail, with the next attempt.
package struct MailResult: Hashable, Sendable {
    /// The mail as it was taken for the attempt.
    package let mail: QueuedMail
    package let outcome: MailOutcome
    /// Nil for a mail that was sent or given up.
    let nextAttemptAt: Timestamp?
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
}

/// The retry schedule of mails. A mail is given up after two hours, because its reader has probably asked for another one.
package enum MailSchedule {
    package static let delays: [Int64] = [10, 60, 300, 900, 1800, 3600]

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
    package typealias Count = (beganAt: Timestamp, mails: Int)

    /// The count after one more mail.
    ///
    /// - Parameters:
    ///   - count: Nil if there was no mail yet.
    ///   - limit: The maximum number of mails in an hour.
    /// - Returns: Nil if the limit is reached.
    package static func adding(to count: Count?, upTo limit: Int, at moment: Timestamp) -> Count? {
        guard let count, moment < count.beganAt.adding(seconds: window), count.beganAt <= moment else {
            return (moment, 1)
        }
        return count.mails < limit ? (count.beganAt, count.mails + 1) : nil
    }
}

/// The rows of mails and of their counts.
extension LedgerTransaction {
    /// Queues a mail about an account, unless a mail limit is reached.
    ///
    /// - Returns: False if a mail limit is reached.
    func queue(
        _ purpose: LinkPurpose,
        to email: String,
        about account: AccountRecord,
        in language: String,
        at moment: Timestamp
    ) throws -> Bool {
        // Requests for other mails must not block the owner's password reset. No address has a space, so the subjects differ.
        let subject = (purpose == .reset ? "reset " : "") + email.lowercased()
        guard try countMail(subject, upTo: MailLimit.perAddress, at: moment),
            // No address has this form.
            try countMail("account \(account.number)", upTo: MailLimit.perAccount, at: moment)
        else { return false }
        try database.insert(
            into: "mail",
            ["user_id", "mail_id", "purpose", "email", "language", "created_at", "attempts", "next_attempt_at"],
            [[account.number, randomness.bytes(16).hexadecimal, purpose, email, language, moment, 0, moment]])
        // Wakes the sender.
        database.recordChange(of: account.number)
        return true
    }

    /// Counts a mail to an address or about an account. A mail that is never sent, because a later one replaces it, is counted
    /// too.
    ///
    /// - Parameter subject: The address or the account.
    /// - Returns: False if the limit is reached.
    func countMail(_ subject: String, upTo limit: Int, at moment: Timestamp) throws -> Bool {
        let digest = DigestAlgorithm.sha256.digest(of: Array(subject.utf8))
        let known: MailLimit.Count? = try database.row(
            "SELECT began_at, mails FROM mail_count WHERE subject_digest = $1", [digest]
        ) { (try $0.next(), try $0.next()) }
        guard let count = MailLimit.adding(to: known, upTo: limit, at: moment) else { return false }
        try database.execute(
            """
            INSERT INTO mail_count (subject_digest, began_at, mails) VALUES ($1, $2, $3)
            ON CONFLICT (subject_digest) DO UPDATE SET began_at = excluded.began_at, mails = excluded.mails
            """,
            [digest, count.beganAt, count.mails])
        return true
    }

    /// The mails about an account, oldest first.
    package func mails(about user: User) throws -> [QueuedMail] {
        guard try database.has("mail"), let user = try users.known(user) else { return [] }
        return try mails("user_id = $1 ORDER BY created_at, mail_id", [user])
    }

    /// - Parameter condition: The SQL after `WHERE`.
    fileprivate func mails(_ condition: String, _ arguments: [any SQLConvertible]) throws -> [QueuedMail] {
        try database.rows(
            """
            SELECT user_id, mail_id, purpose, email, language, created_at, attempts, next_attempt_at, sent_at, error
            FROM mail WHERE \(condition)
            """,
            arguments
        ) { row in
            QueuedMail(
                user: try row.next(), identifier: try row.next(), purpose: try row.next(), email: try row.next(),
                language: try row.next(), createdAt: try row.next(), attempts: try row.next(),
                nextAttemptAt: try row.next(), sentAt: try row.next(), lastError: try row.next())
        }
    }
}

extension LedgerFeature {
    package static let accountMail = LedgerFeature(tables: [.accountLink, .addressChange, .mail, .mailCount])
}

extension Table {
    /// The queue of mails. It has neither texts nor secrets of links. `next_attempt_at` is null for a mail that was sent or
    /// given up.
    fileprivate static let mail = Table(
        name: "mail", family: .userData,
        columns: [
            .integer("user_id"), .text("mail_id"), .text("purpose"), .text("email"), .text("language"),
            .integer("created_at"), .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at").optional,
            .integer("sent_at").optional, .text("error").optional,
        ],
        key: ["user_id", "mail_id"],
        checks: ["sent_at IS NULL OR next_attempt_at IS NULL"],
        erasure: .deletion, restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("mail_due", by: ["next_attempt_at"], where: "next_attempt_at IS NOT NULL")
    .indexed("mail_done", by: ["created_at"], where: "next_attempt_at IS NULL")
    .takingBack("next_attempt_at", within: MailSchedule.maximumAge)

    /// The number of mails within an hour, to each address and about each account. The key is the SHA-256 of an address, with
    /// or without an account, or of an account's number.
    fileprivate static let mailCount = Table(
        name: "mail_count", family: .globalKey,
        columns: [
            .blob("subject_digest", count: 32), .integer("began_at"), .integer("mails", check: "mails > 0"),
        ],
        key: ["subject_digest"],
        restoration: .deletion
    )
    .indexed("mail_count_by_age", by: ["began_at"])
}
