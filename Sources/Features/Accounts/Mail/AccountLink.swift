import Ledger
import Proofs

/// The purpose of a mailed link.
package enum LinkPurpose: String, SQLConvertible, Sendable, CaseIterable {
    /// Verifies the address of an account. If the account is another person's, it releases the address instead.
    case verification
    /// Sets a new password.
    case reset
    /// Confirms at the old address that a new one replaces it.
    case addressChange
    /// Confirms the new address.
    case newAddress

    /// The lifetime of a link, in seconds.
    var lifetime: Int64 {
        switch self {
        case .reset: 3600
        case .verification, .addressChange, .newAddress: 86_400
        }
    }
}

/// The result of a confirmation.
package enum Confirmation: String, CaseIterable, Codable, Sendable {
    /// The address of the account is verified.
    case verified
    /// The account has the new address.
    case changed
    /// The change awaits the confirmation at the other address.
    case waitsForOther
}

/// A mailed link. A used link is deleted.
///
/// Presenting its secret proves access to the mailbox. The secret's content is the user's number (8 bytes, big-endian), which
/// finds the row in a ledger that is sharded by it, and 34 random bytes.
package struct AccountLink: Sendable {
    private static let prefix = "tl_"
    private static let size = 42

    package let purpose: LinkPurpose
    /// The address that the link was mailed to, in lower case.
    package let emailLowercase: String
    package let endsAt: Timestamp

    package init(_ purpose: LinkPurpose, to email: String, at moment: Timestamp) {
        self.purpose = purpose
        emailLowercase = email.lowercased()
        endsAt = moment.adding(seconds: purpose.lifetime)
    }

    fileprivate init(_ row: SQLRow) throws {
        purpose = try row["purpose"]
        emailLowercase = try row["email_lowercase"]
        endsAt = try row["ends_at"]
    }

    /// A new secret for a user's number.
    static func secret(of user: Int64, _ randomness: Randomness) -> Secret {
        Secret(prefix, of: user.bytes, count: size, randomness: randomness)
    }

    /// A presented secret.
    ///
    /// - Throws: `AccountError.linkInvalid` for a malformed text.
    static func secret(_ text: String) throws(AccountError) -> Secret {
        guard let secret = Secret(prefix, presented: text, count: size) else { throw .linkInvalid }
        return secret
    }

    /// The reason why the link is not valid for a use; nil if it is.
    ///
    /// - Parameters:
    ///   - purposes: The purposes of links for this use.
    ///   - address: The address of the account in lower case; nil if the account was erased.
    ///   - newAddress: The address in lower case that a pending change leads to; nil if there is none.
    package func refusal(
        for purposes: Set<LinkPurpose>, of address: String?, changingTo newAddress: String?, at moment: Timestamp
    ) -> AccountError? {
        guard purposes.contains(purpose), let address else { return .linkInvalid }
        // The confirmed address must be the one that the mail was sent to.
        let expected: String? =
            switch purpose {
            case .verification, .reset: address
            case .addressChange: newAddress == nil ? nil : address
            case .newAddress: newAddress
            }
        guard expected == emailLowercase else { return .linkInvalid }
        return moment < endsAt ? nil : .linkExpired
    }
}

/// A pending change of an account's address, which both addresses must confirm.
struct AddressChange {
    /// The new address as the user wrote it.
    let email: String
    let emailLowercase: String
    let askedAt: Timestamp
    var isConfirmedAtOld: Bool
    var isConfirmedAtNew: Bool
}

/// The use of mailed links.
extension LedgerTransaction {
    /// The account and the purpose of a link that is valid for one of some purposes.
    ///
    /// - Throws: `AccountError`, `linkInvalid` or `linkExpired`.
    func account(
        of secret: Secret, for purposes: Set<LinkPurpose>, at moment: Timestamp
    ) throws -> (account: AccountRecord, purpose: LinkPurpose) {
        let user = secret.number(at: 0)
        let link = try database.row(
            "SELECT * FROM account_link WHERE user_id = $1 AND digest = $2", [user, secret.digest]
        ).map(AccountLink.init)
        guard let link, let account = try account(of: user) else { throw AccountError.linkInvalid }
        let refusal = link.refusal(
            for: purposes, of: account.emailLowercase, changingTo: try addressChange(of: user)?.emailLowercase,
            at: moment)
        if let refusal { throw refusal }
        return (account, link.purpose)
    }

    /// Confirms an address, or one half of a change of address.
    func confirm(_ purpose: LinkPurpose, of account: AccountRecord, at moment: Timestamp) throws -> Confirmation {
        if purpose == .verification {
            try verifyEmail(of: account.number, at: moment)
            // A verified address must confirm later changes.
            try deleteLinks(of: account.number)
            return .verified
        }
        guard var change = try addressChange(of: account.number) else { throw AccountError.linkInvalid }
        if purpose == .addressChange { change.isConfirmedAtOld = true } else { change.isConfirmedAtNew = true }
        guard change.isConfirmedAtOld, change.isConfirmedAtNew else {
            try set(change, of: account.number)
            try deleteLinks([purpose], of: account.number)
            return .waitsForOther
        }
        // Another account loses the address if it has not verified it. The account may already have it in another case.
        if let holder = try self.account(emailLowercase: change.emailLowercase), holder.number != account.number {
            guard holder.emailVerifiedAt == nil else { throw AccountError.emailTaken }
            try releaseEmail(of: holder)
        }
        try setEmail(change.email, change.emailLowercase, of: account, verifiedAt: moment)
        return .changed
    }

    /// Takes the address from an account, which stays.
    func releaseEmail(of account: AccountRecord) throws {
        // No address has this form, so it is unique per account.
        try setEmail("", "released:\(account.user.name)", of: account, verifiedAt: nil)
    }

    /// Begins a change of an account's address, and replaces an earlier one.
    ///
    /// - Throws: `AccountError.mailTooOften`.
    func beginChange(
        of account: AccountRecord, to email: EmailAddress, in language: String, at moment: Timestamp
    ) throws {
        // An unverified old address may be a stranger's mailbox or none, so only a verified one must confirm.
        let isVerified = account.emailVerifiedAt != nil
        try deleteLinks([.addressChange, .newAddress], of: account.number)
        try set(
            AddressChange(
                email: email.text, emailLowercase: email.lowercase, askedAt: moment, isConfirmedAtOld: !isVerified,
                isConfirmedAtNew: false),
            of: account.number)
        let mails: [(LinkPurpose, to: String)] =
            (isVerified ? [(.addressChange, account.email)] : []) + [(.newAddress, email.text)]
        for (purpose, address) in mails {
            guard try queue(purpose, to: address, about: account, in: language, at: moment) else {
                throw AccountError.mailTooOften
            }
        }
    }

    /// Adds a link with a new secret for a mail.
    func addLink(for mail: QueuedMail, at moment: Timestamp) throws -> (secret: Secret, endsAt: Timestamp) {
        let secret = AccountLink.secret(of: mail.user, randomness)
        let link = AccountLink(mail.purpose, to: mail.email, at: moment)
        try database.insert(
            into: "account_link", ["user_id", "digest", "purpose", "email_lowercase", "created_at", "ends_at"],
            [[mail.user, secret.digest, link.purpose, link.emailLowercase, moment, link.endsAt]])
        return (secret, link.endsAt)
    }

    /// Deletes the links of an account, its unsent mails with links, and its pending change.
    func deleteLinks(of user: Int64) throws {
        try deleteLinks(LinkPurpose.allCases, of: user)
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
    }

    /// Deletes the links of an account for some purposes, and its unsent mails with such links.
    private func deleteLinks(_ purposes: [LinkPurpose], of user: Int64) throws {
        for purpose in purposes {
            let arguments: [any SQLConvertible] = [user, purpose]
            try database.execute("DELETE FROM account_link WHERE user_id = $1 AND purpose = $2", arguments)
            try database.execute(
                "DELETE FROM mail WHERE user_id = $1 AND purpose = $2 AND next_attempt_at IS NOT NULL", arguments)
        }
    }

    /// The pending change of an account's address; nil if there is none.
    func addressChange(of user: Int64) throws -> AddressChange? {
        try database.row("SELECT * FROM address_change WHERE user_id = $1", [user]).map { row in
            AddressChange(
                email: try row["email"], emailLowercase: try row["email_lowercase"], askedAt: try row["asked_at"],
                isConfirmedAtOld: try row["is_confirmed_at_old"], isConfirmedAtNew: try row["is_confirmed_at_new"])
        }
    }

    /// Stores a change, and replaces an earlier one.
    private func set(_ change: AddressChange, of user: Int64) throws {
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
}
