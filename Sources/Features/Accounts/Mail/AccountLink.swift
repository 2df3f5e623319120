import Ledger
import Proofs
import Vocabulary

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

    fileprivate init(_ row: inout ResultRow) throws {
        (purpose, emailLowercase, endsAt) = (try row.next(), try row.next(), try row.next())
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
    static let columns = ["email", "email_lowercase", "asked_at", "is_confirmed_at_old", "is_confirmed_at_new"]

    /// The new address as the user wrote it.
    let email: String
    let emailLowercase: String
    let askedAt: Timestamp
    var isConfirmedAtOld: Bool
    var isConfirmedAtNew: Bool

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] { [email, emailLowercase, askedAt, isConfirmedAtOld, isConfirmedAtNew] }
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
            "SELECT purpose, email_lowercase, ends_at FROM account_link WHERE user_id = $1 AND digest = $2",
            [user, secret.digest], AccountLink.init)
        guard let link, let account = try account(of: user) else { throw AccountError.linkInvalid }
        let refusal = link.refusal(
            for: purposes, of: account.emailLowercase, changingTo: try addressChange(of: user)?.emailLowercase,
            at: moment)
        if let refusal { throw refusal }
        return (account, link.purpose)
    }

    /// Takes the address from an account, which stays.
    func releaseEmail(of account: AccountRecord) throws {
        // No address has this form, so it is unique per account.
        try setEmail("", "released:\(account.user.name)", of: account, verifiedAt: nil)
    }

    /// Deletes the links of an account, its unsent mails with links, and its pending change.
    func deleteLinks(of user: Int64) throws {
        try deleteLinks(LinkPurpose.allCases, of: user)
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
    }

    /// Deletes the links of an account for some purposes, and its unsent mails with such links.
    fileprivate func deleteLinks(_ purposes: [LinkPurpose], of user: Int64) throws {
        for purpose in purposes {
            let arguments: [any SQLConvertible] = [user, purpose]
            try database.execute("DELETE FROM account_link WHERE user_id = $1 AND purpose = $2", arguments)
            try database.execute(
                "DELETE FROM mail WHERE user_id = $1 AND purpose = $2 AND next_attempt_at IS NOT NULL", arguments)
        }
    }

    /// The pending change of an account's address; nil if there is none.
    func addressChange(of user: Int64) throws -> AddressChange? {
        try database.row(
            "SELECT \(AddressChange.columns.joined(separator: ", ")) FROM address_change WHERE user_id = $1", [user]
        ) { row in
            AddressChange(
                email: try row.next(), emailLowercase: try row.next(), askedAt: try row.next(),
                isConfirmedAtOld: try row.next(), isConfirmedAtNew: try row.next())
        }
    }

    /// Stores a change, and replaces an earlier one.
    fileprivate func set(_ change: AddressChange, of user: Int64) throws {
        try database.execute("DELETE FROM address_change WHERE user_id = $1", [user])
        try database.insert(into: "address_change", ["user_id"] + AddressChange.columns, [[user] + change.sqlValues])
    }
}

/// The use cases of mailed links.
extension AccountService {
    /// Queues a mail with a link that verifies the address of an account.
    ///
    /// - Throws: `AccountError`: `accountNotFound`, `emailVerified`, `mailTooOften`.
    package func askForVerification(of user: User, in language: String) async throws {
        try await write { transaction, now in
            guard let account = try transaction.account(of: user), account.address != nil else {
                throw AccountError.accountNotFound
            }
            guard account.emailVerifiedAt == nil else { throw AccountError.emailVerified }
            guard try transaction.queue(.verification, to: account.email, about: account, in: language, at: now)
            else { throw AccountError.mailTooOften }
        }
    }

    /// Queues a mail with a link that resets the password, if the address has an account. A row is written in both cases, so
    /// that the duration reveals little.
    package func askForReset(of email: EmailAddress, in language: String) async throws {
        try await write { transaction, now in
            // One of a few rows that the addresses share: strangers may name any number of addresses. No address has a space.
            let digest = DigestAlgorithm.sha256.digest(of: Array(email.lowercase.utf8))
            _ = try transaction.countMail("requests \(digest[0])", upTo: .max, at: now)
            guard let account = try transaction.account(emailLowercase: email.lowercase) else { return }
            _ = try transaction.queue(.reset, to: account.email, about: account, in: language, at: now)
        }
    }

    /// Begins the change of an account's address, after the password was confirmed, and replaces an earlier one.
    ///
    /// - Throws: `AccountError`: `emailUnchanged`, `mailTooOften`; `CredentialError.passwordWrong` if the account was erased or
    ///   its password was changed meanwhile.
    package func askForChange(of account: AccountRecord, to email: EmailAddress, in language: String) async throws {
        guard email.text != account.email else { throw AccountError.emailUnchanged }
        try await write { transaction, now in
            // The address may have been verified since the account was read.
            guard let account = try transaction.unchanged(account) else { throw CredentialError.passwordWrong }
            // An unverified old address may be a stranger's mailbox or none, so only a verified one must confirm.
            let isVerified = account.emailVerifiedAt != nil
            try transaction.deleteLinks([.addressChange, .newAddress], of: account.number)
            try transaction.set(
                AddressChange(
                    email: email.text, emailLowercase: email.lowercase, askedAt: now, isConfirmedAtOld: !isVerified,
                    isConfirmedAtNew: false),
                of: account.number)
            let mails: [(LinkPurpose, to: String)] =
                (isVerified ? [(.addressChange, account.email)] : []) + [(.newAddress, email.text)]
            for (purpose, address) in mails {
                guard try transaction.queue(purpose, to: address, about: account, in: language, at: now) else {
                    throw AccountError.mailTooOften
                }
            }
        }
    }

    /// Confirms an address, or one half of a change of address.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, or `emailTaken` if another account has verified the new address
    ///   meanwhile.
    package func confirm(_ text: String) async throws -> Confirmation {
        try await use(text, for: [.verification, .addressChange, .newAddress]) { transaction, account, purpose, now in
            if purpose == .verification {
                try transaction.verifyEmail(of: account.number, at: now)
                // A verified address must confirm later changes.
                try transaction.deleteLinks(of: account.number)
                return .verified
            }
            guard var change = try transaction.addressChange(of: account.number) else { throw AccountError.linkInvalid }
            if purpose == .addressChange { change.isConfirmedAtOld = true } else { change.isConfirmedAtNew = true }
            guard change.isConfirmedAtOld, change.isConfirmedAtNew else {
                try transaction.set(change, of: account.number)
                try transaction.deleteLinks([purpose], of: account.number)
                return .waitsForOther
            }
            // Another account loses the address if it has not verified it. The account may already have it in another case.
            if let holder = try transaction.account(emailLowercase: change.emailLowercase),
                holder.number != account.number
            {
                guard holder.emailVerifiedAt == nil else { throw AccountError.emailTaken }
                try transaction.releaseEmail(of: holder)
            }
            try transaction.setEmail(change.email, change.emailLowercase, of: account, verifiedAt: now)
            return .changed
        }
    }

    /// Releases an address that another person has used to sign up. The account stays, without an address.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`, or `emailVerified` if the account has verified the address.
    package func release(_ text: String) async throws {
        try await use(text, for: [.verification]) { transaction, account, _, _ in
            guard account.emailVerifiedAt == nil else { throw AccountError.emailVerified }
            try transaction.releaseEmail(of: account)
        }
    }

    /// The account of a link for a password reset. This is the first half of a reset. It writes nothing, so that a stranger
    /// without a link causes no hash.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`.
    package func account(resetBy text: String) async throws -> AccountRecord {
        let (token, now) = (try AccountLink.secret(text), clock.now())
        return try await ledger.read { try $0.account(of: token, for: [.reset], at: now).account }
    }

    /// Sets the new password of an account, and ends all its sessions.
    ///
    /// - Parameter hash: The hash of the new password.
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`.
    package func reset(_ text: String, to hash: String) async throws {
        try await use(text, for: [.reset]) { transaction, account, _, now in
            try transaction.setPasswordHash(hash, of: account.number)
            try transaction.verifyEmail(of: account.number, at: now)
        }
    }

    /// Uses a mailed link. A stranger without one causes no write.
    ///
    /// - Throws: `AccountError`: `linkInvalid`, `linkExpired`; the errors of `body`.
    private func use<Value: Sendable>(
        _ text: String,
        for purposes: Set<LinkPurpose>,
        _ body: @escaping @Sendable (LedgerTransaction, AccountRecord, LinkPurpose, Timestamp) throws -> Value
    ) async throws -> Value {
        let (token, now) = (try AccountLink.secret(text), clock.now())
        _ = try await ledger.read { try $0.account(of: token, for: purposes, at: now) }
        return try await write { transaction, now in
            let (account, purpose) = try transaction.account(of: token, for: purposes, at: now)
            return try body(transaction, account, purpose, now)
        }
    }
}

extension Table {
    /// A mailed link. A used link is deleted. `email_lowercase` is the address that the link was mailed to.
    static let accountLink = Table(
        name: "account_link", family: .userData,
        columns: [
            .integer("user_id"), .blob("digest", count: 32), .text("purpose"), .text("email_lowercase"),
            .integer("created_at"), .integer("ends_at", check: "ends_at > created_at"),
        ],
        key: ["user_id", "digest"], erasure: .deletion,
        restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("account_link_by_end", by: ["ends_at"])
    .takingBack("created_at", setting: "ends_at = ends_at - (created_at - $1), created_at = $1", endsEarly: true)

    /// A pending change of an account's address. An account has at most one.
    static let addressChange = Table(
        name: "address_change", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .integer("asked_at"),
            .integer("is_confirmed_at_old", check: "is_confirmed_at_old IN (0, 1)"),
            .integer("is_confirmed_at_new", check: "is_confirmed_at_new IN (0, 1)"),
        ],
        key: ["user_id"], erasure: .deletion,
        restoration: .deletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("address_change_by_age", by: ["asked_at"])
}
