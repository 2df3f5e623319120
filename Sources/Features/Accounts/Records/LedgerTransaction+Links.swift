import Ledger
import Proofs

/// The use of mailed links.
extension LedgerTransaction {
    /// The account of a link that is valid for one of some purposes.
    ///
    /// - Throws: `AccountError`, `linkInvalid` or `linkExpired`.
    func account(
        of token: LinkToken,
        for purposes: Set<LinkPurpose>,
        at moment: Timestamp
    ) throws -> (account: AccountRecord, link: AccountLink) {
        let links = LinkRecords(database: database)
        let account = try AccountRecords(database: database).account(of: token.user)
        guard let link = try links.link(token), let account else { throw AccountError.linkInvalid }
        let change = try links.change(of: link.user)
        if let refusal = link.refusal(for: purposes, account: account, change: change, at: moment) { throw refusal }
        return (account, link)
    }

    /// Confirms an address, or one half of a change of address.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, or `emailTaken` if another account has verified the new address
    ///   meanwhile.
    func confirm(_ token: LinkToken, at moment: Timestamp) throws -> Confirmation {
        let purposes: Set<LinkPurpose> = [.verification, .addressChange, .newAddress]
        let (account, link) = try account(of: token, for: purposes, at: moment)
        let (records, links) = (AccountRecords(database: database), LinkRecords(database: database))
        if link.purpose == .verification {
            try records.verifyEmail(of: link.user, at: moment)
            // A verified address must confirm later changes.
            try links.deleteAll(of: link.user)
            return .verified
        }
        guard let change = try links.change(of: link.user)?.confirmed(by: link.purpose) else {
            throw AccountError.linkInvalid
        }
        guard change.isComplete else {
            try links.set(change, of: link.user)
            try links.delete([link.purpose], of: link.user)
            return .waitsForOther
        }
        try free(change.emailLowercase, for: account)
        try records.setEmail(change.email, change.emailLowercase, of: link.user, verifiedAt: moment)
        try links.deleteAll(of: link.user)
        return .changed
    }

    /// Takes an address from another account that has not verified it.
    ///
    /// - Throws: `AccountError.emailTaken` if that account has verified it.
    private func free(_ emailLowercase: String, for account: AccountRecord) throws {
        let holder = try AccountRecords(database: database).account(emailLowercase: emailLowercase)
        // The account may already have the address in another case.
        guard let holder, holder.user != account.user else { return }
        guard holder.emailVerifiedAt == nil else { throw AccountError.emailTaken }
        guard let user = try users.known(holder.user) else { throw damaged }
        try leaveWithoutAddress(user, holder)
    }

    /// Releases an address that another person has used to sign up. The account stays, without an address.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, or `emailVerified` if the account has verified the address.
    func release(_ token: LinkToken, at moment: Timestamp) throws {
        let (account, link) = try account(of: token, for: [.verification], at: moment)
        guard account.emailVerifiedAt == nil else { throw AccountError.emailVerified }
        try leaveWithoutAddress(link.user, account)
    }

    private func leaveWithoutAddress(_ user: Int64, _ account: AccountRecord) throws {
        // No address has this form, so it is unique per account.
        try AccountRecords(database: database).setEmail("", "released:\(account.user.name)", of: user, verifiedAt: nil)
        try LinkRecords(database: database).deleteAll(of: user)
    }

    /// Resets the password of an account, and ends all its sessions.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`.
    func reset(_ hash: String, by token: LinkToken, at moment: Timestamp) throws {
        let link = try account(of: token, for: [.reset], at: moment).link
        let records = AccountRecords(database: database)
        try records.setPasswordHash(hash, of: link.user, keeping: [])
        try records.verifyEmail(of: link.user, at: moment)
        // The reset also cancels a change of address by a person with the old password.
        try LinkRecords(database: database).deleteAll(of: link.user)
    }

    /// Begins a change of an account's address, and replaces an earlier one.
    ///
    /// - Parameter account: The account whose password was confirmed.
    /// - Throws: `AccountError`: `passwordWrong` if the account was erased or its password was changed meanwhile,
    ///   `mailTooOften`.
    func beginChange(
        to email: EmailAddress,
        of account: AccountRecord,
        in language: String,
        at moment: Timestamp
    ) throws {
        guard let user = try unchanged(account), let account = try AccountRecords(database: database).account(of: user)
        else { throw AccountError.passwordWrong }
        // The address may have been verified since the account was read.
        let change = AddressChange(to: email, of: account, at: moment)
        let links = LinkRecords(database: database)
        try links.delete([.addressChange, .newAddress], of: user)
        try links.set(change, of: user)
        for mail in change.mails(of: account) {
            let isQueued = try queue(mail.purpose, to: mail.email, about: user, in: language, at: moment)
            guard isQueued else { throw AccountError.mailTooOften }
        }
    }

    /// Queues the mail that verifies the address of an account.
    ///
    /// - Returns: False if a mail limit is reached.
    func queueVerification(
        of account: AccountRecord,
        _ user: Int64,
        in language: String,
        at moment: Timestamp
    ) throws -> Bool {
        try queue(.verification, to: account.email, about: user, in: language, at: moment)
    }

    /// Queues the mail that resets a password, if the address has an account. A row is written in both cases, so that the
    /// duration reveals little.
    func queueReset(for email: EmailAddress, in language: String, at moment: Timestamp) throws {
        try MailRecords(database: database).countRequest(for: email.lowercase, at: moment)
        guard let account = try account(emailLowercase: email.lowercase), let user = try users.known(account.user)
        else { return }
        _ = try queue(.reset, to: account.email, about: user, in: language, at: moment)
    }
}

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
