import Ledger
import Proofs

/// The queue of mails.
extension LedgerTransaction {
    /// Queues a mail about an account, unless a mail limit is reached.
    ///
    /// - Parameters:
    ///   - user: The number of the account's user.
    ///   - email: The recipient.
    /// - Returns: False if a mail limit is reached.
    func queue(
        _ purpose: LinkPurpose,
        to email: String,
        about user: Int64,
        in language: String,
        at moment: Timestamp
    ) throws -> Bool {
        let records = MailRecords(database: database)
        // Requests for other mails must not block the owner's password reset. No address has a space, so the subjects differ.
        let subject = (purpose == .reset ? "reset " : "") + email.lowercased()
        guard try records.count(subject, upTo: MailLimit.perAddress, at: moment),
            // No address has this form.
            try records.count("account \(user)", upTo: MailLimit.perAccount, at: moment)
        else { return false }
        try records.insert(
            QueuedMail(
                user: user, identifier: randomness.bytes(16).hexadecimal, purpose: purpose, email: email,
                language: language, createdAt: moment, nextAttemptAt: moment))
        // Wakes the sender.
        database.recordChange(of: user)
        return true
    }

    /// The due mails, the longest waiting first.
    package func dueMails(at moment: Timestamp, limit: Int) throws -> [QueuedMail] {
        try MailRecords(database: database).due(at: moment, limit: limit)
    }

    /// Begins an attempt for each mail, with a new link, so that no other sender sends it until `end`.
    ///
    /// - Returns: The mails, without those that another sender has leased or that were deleted.
    package func lease(_ mails: [QueuedMail], at moment: Timestamp, until end: Timestamp) throws -> [LeasedMail] {
        let (mailRecords, links) = (MailRecords(database: database), LinkRecords(database: database))
        try mailRecords.giveUp(before: moment.adding(seconds: -MailSchedule.maximumAge))
        return try mails.compactMap { mail in
            guard let leased = try mailRecords.lease(mail, until: end) else { return nil }
            let token = LinkToken(of: mail.user, randomness: randomness)
            let link = AccountLink(
                user: mail.user, digest: token.digest, purpose: mail.purpose,
                emailLowercase: mail.email.lowercased(), createdAt: moment)
            try links.insert(link)
            let change = mail.purpose == .addressChange ? try links.change(of: mail.user) : nil
            return LeasedMail(mail: leased, token: token, linkEndsAt: link.endsAt, newEmail: change?.email)
        }
    }

    /// Records the results of attempts.
    package func record(_ results: [MailResult]) throws {
        let records = MailRecords(database: database)
        for result in results { try records.record(result) }
    }

    /// Deletes links that expired before a moment, older mails that were sent or given up, and expired counts.
    ///
    /// - Parameter now: The current time.
    func deleteMails(before moment: Timestamp, at now: Timestamp) throws {
        try MailRecords(database: database).delete(before: moment)
        try MailRecords(database: database).deleteCounts(before: now.adding(seconds: -MailLimit.window))
        try LinkRecords(database: database).delete(before: moment)
    }

    /// The mails about an account, oldest first.
    package func mails(about user: User) throws -> [QueuedMail] {
        guard try database.has("mail"), let user = try users.known(user) else { return [] }
        return try MailRecords(database: database).mails(of: user)
    }
}
