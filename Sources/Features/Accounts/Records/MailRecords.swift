import Ledger
import Proofs

/// The SQL of mails, inside the caller's transaction.
struct MailRecords {
    let database: any LedgerDatabase

    private static let columns = [
        "user_id", "mail_id", "purpose", "email", "language", "created_at", "attempts", "next_attempt_at",
    ]

    /// Counts a mail to an address or about an account. A mail that is never sent, because a later one replaces it, is counted
    /// too.
    ///
    /// - Parameter subject: The address or the account.
    /// - Returns: False if the limit is reached.
    func count(_ subject: String, upTo limit: Int, at moment: Timestamp) throws -> Bool {
        let digest = DigestAlgorithm.sha256.digest(of: Array(subject.utf8))
        let known = try database.row("SELECT began_at, mails FROM mail_count WHERE subject_digest = $1", [digest])
            .map { MailLimit.Count(beganAt: try $0["began_at"], mails: try $0["mails"]) }
        guard let count = MailLimit.adding(to: known, upTo: limit, at: moment) else { return false }
        try database.execute(
            """
            INSERT INTO mail_count (subject_digest, began_at, mails) VALUES ($1, $2, $3)
            ON CONFLICT (subject_digest) DO UPDATE SET began_at = excluded.began_at, mails = excluded.mails
            """,
            [digest, count.beganAt, count.mails])
        return true
    }

    /// Writes that a mail to an address was asked for, in one of a few rows that the addresses share: strangers may name any
    /// number of addresses.
    func countRequest(for email: String, at moment: Timestamp) throws {
        let digest = DigestAlgorithm.sha256.digest(of: Array(email.utf8))
        // No address has a space.
        _ = try count("requests \(digest[0])", upTo: .max, at: moment)
    }

    func insert(_ mail: QueuedMail) throws {
        try database.insert(
            into: "mail", Self.columns,
            [
                [
                    mail.user, mail.identifier, mail.purpose.rawValue, mail.email, mail.language, mail.createdAt,
                    mail.attempts, mail.nextAttemptAt,
                ]
            ])
    }

    func due(at moment: Timestamp, limit: Int) throws -> [QueuedMail] {
        try database.rows(
            "SELECT * FROM mail WHERE next_attempt_at <= $1 ORDER BY next_attempt_at, mail_id LIMIT $2",
            [moment, limit]
        ).map(Self.mail)
    }

    /// The mails of a user, oldest first.
    func mails(of user: Int64) throws -> [QueuedMail] {
        try database.rows("SELECT * FROM mail WHERE user_id = $1 ORDER BY created_at, mail_id", [user]).map(Self.mail)
    }

    /// Gives up the mails that are older than a moment.
    func giveUp(before moment: Timestamp) throws {
        try database.execute(
            "UPDATE mail SET next_attempt_at = NULL, error = 'tooOld' WHERE next_attempt_at IS NOT NULL AND created_at < $1",
            [moment])
    }

    /// - Returns: The mail as it was taken; nil if another sender has taken it, or it was deleted.
    func lease(_ mail: QueuedMail, until end: Timestamp) throws -> QueuedMail? {
        let isTaken =
            try database.execute(
                """
                UPDATE mail SET attempts = attempts + 1, next_attempt_at = $1
                WHERE user_id = $2 AND mail_id = $3 AND next_attempt_at = $4
                """,
                [end, mail.user, mail.identifier, mail.nextAttemptAt]) == 1
        guard isTaken else { return nil }
        return QueuedMail(
            user: mail.user, identifier: mail.identifier, purpose: mail.purpose, email: mail.email,
            language: mail.language, createdAt: mail.createdAt, attempts: mail.attempts + 1, nextAttemptAt: end,
            lastError: mail.lastError)
    }

    /// Records the result of an attempt, unless another sender has taken the mail meanwhile.
    func record(_ result: MailResult) throws {
        let mail = result.mail
        try database.execute(
            """
            UPDATE mail SET next_attempt_at = $1, sent_at = $2, error = $3
            WHERE user_id = $4 AND mail_id = $5 AND next_attempt_at = $6
            """,
            [
                result.nextAttemptAt, result.outcome == .sent ? result.endedAt : nil, result.error, mail.user,
                mail.identifier, mail.nextAttemptAt,
            ])
    }

    /// Deletes mails that are older than a moment and were sent or given up.
    func delete(before moment: Timestamp) throws {
        try database.execute("DELETE FROM mail WHERE next_attempt_at IS NULL AND created_at <= $1", [moment])
    }

    /// Deletes counts that began before a moment.
    func deleteCounts(before moment: Timestamp) throws {
        try database.execute("DELETE FROM mail_count WHERE began_at <= $1", [moment])
    }

    private static func mail(_ row: SQLRow) throws -> QueuedMail {
        guard let purpose = LinkPurpose(rawValue: try row["purpose"]) else { throw SQLRow.Mismatch(column: "purpose") }
        return QueuedMail(
            user: try row["user_id"], identifier: try row["mail_id"], purpose: purpose, email: try row["email"],
            language: try row["language"], createdAt: try row["created_at"], attempts: try row["attempts"],
            nextAttemptAt: try row["next_attempt_at"], sentAt: try row["sent_at"], lastError: try row["error"])
    }
}

/// The SQL of mailed links and changes of address, inside the caller's transaction.
struct LinkRecords {
    let database: any LedgerDatabase

    func insert(_ link: AccountLink) throws {
        try database.insert(
            into: "account_link", ["user_id", "digest", "purpose", "email_lowercase", "created_at", "ends_at"],
            [[link.user, link.digest, link.purpose.rawValue, link.emailLowercase, link.createdAt, link.endsAt]])
    }

    /// - Returns: Nil for a link that is unknown or used.
    func link(_ token: LinkToken) throws -> AccountLink? {
        try database.row(
            "SELECT * FROM account_link WHERE user_id = $1 AND digest = $2", [token.user, token.digest]
        ).map(Self.link)
    }

    func delete(_ link: AccountLink) throws {
        try database.delete(from: "account_link", where: ["user_id", "digest"], [[link.user, link.digest]])
    }

    /// Deletes the links of an account for some purposes, and its unsent mails with such links.
    func delete(_ purposes: [LinkPurpose], of user: Int64) throws {
        for purpose in purposes {
            let arguments: [any SQLConvertible] = [user, purpose.rawValue]
            try database.execute("DELETE FROM account_link WHERE user_id = $1 AND purpose = $2", arguments)
            try database.execute(
                "DELETE FROM mail WHERE user_id = $1 AND purpose = $2 AND next_attempt_at IS NOT NULL", arguments)
        }
    }

    /// Deletes the links, the unsent mails and the pending change of an account.
    func deleteAll(of user: Int64) throws {
        try delete(LinkPurpose.allCases, of: user)
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
    }

    func change(of user: Int64) throws -> AddressChange? {
        try database.row("SELECT * FROM address_change WHERE user_id = $1", [user]).map { row in
            AddressChange(
                email: try row["email"], emailLowercase: try row["email_lowercase"], askedAt: try row["asked_at"],
                isConfirmedAtOld: try row["is_confirmed_at_old"], isConfirmedAtNew: try row["is_confirmed_at_new"])
        }
    }

    /// Stores a change, and replaces an earlier one.
    func set(_ change: AddressChange, of user: Int64) throws {
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
        try database.insert(
            into: "address_change",
            ["user_id", "email", "email_lowercase", "asked_at", "is_confirmed_at_old", "is_confirmed_at_new"],
            [
                [
                    user, change.email, change.emailLowercase, change.askedAt, change.isConfirmedAtOld,
                    change.isConfirmedAtNew,
                ]
            ])
    }

    /// Deletes links and changes that ended before a moment.
    func delete(before moment: Timestamp) throws {
        try database.execute("DELETE FROM account_link WHERE ends_at <= $1", [moment])
        try database.execute("DELETE FROM address_change WHERE asked_at <= $1", [moment])
    }

    private static func link(_ row: SQLRow) throws -> AccountLink {
        guard let purpose = LinkPurpose(rawValue: try row["purpose"]) else { throw SQLRow.Mismatch(column: "purpose") }
        return AccountLink(
            user: try row["user_id"], digest: try row["digest"], purpose: purpose,
            emailLowercase: try row["email_lowercase"], createdAt: try row["created_at"], endsAt: try row["ends_at"])
    }
}
