import Ledger
import Proofs
import Vocabulary

package struct AccountRecord: Hashable, Sendable {
    let number: Int64
    /// The user, with the service's own issuer.
    package let user: User
    /// The address as the user wrote it; empty after another person has proven that it is theirs.
    package let email: String
    /// The lower-case form, which identifies the account.
    let emailLowercase: String
    /// The hash in the format of `PasswordHash`.
    package let passwordHash: String
    package let createdAt: Timestamp
    /// The time of the verification of the address; nil before it.
    package var emailVerifiedAt: Timestamp?

    /// The address; nil for an account without one.
    package var address: EmailAddress? { try? EmailAddress(email) }
}

extension User {
    /// The user in the next columns, whose name must be valid.
    init(accountRow row: inout ResultRow) throws {
        guard let user = try User(&row) else { throw ColumnMismatch.column("name") }
        self = user
    }
}

extension LedgerTransaction {
    /// The account of an address; nil if there is none.
    ///
    /// - Parameter emailLowercase: The address in lower case.
    func account(emailLowercase: String) throws -> AccountRecord? {
        let user: Int64? = try database.value(
            "SELECT user_id FROM account_email WHERE email_lowercase = $1", [emailLowercase])
        return try user.flatMap(account(of:))
    }

    package func account(of user: User) throws -> AccountRecord? {
        guard try database.has("account"), let user = try users.known(user) else { return nil }
        return try account(of: user)
    }

    func account(of user: Int64) throws -> AccountRecord? {
        try database.row(
            """
            SELECT issuer, name, email, email_lowercase, password_hash, created_at, email_verified_at
            FROM account JOIN "user" USING (user_id) WHERE user_id = $1
            """,
            [user]
        ) { row in
            AccountRecord(
                number: user, user: try User(accountRow: &row), email: try row.next(), emailLowercase: try row.next(),
                passwordHash: try row.next(), createdAt: try row.next(), emailVerifiedAt: try row.next())
        }
    }

    /// The present state of an account; nil if it was erased or its password was changed since it was read.
    func unchanged(_ account: AccountRecord) throws -> AccountRecord? {
        let present = try self.account(of: account.number)
        return present?.passwordHash == account.passwordHash ? present : nil
    }

    /// Sets another password of an account, and ends all its sessions but one. It cancels every pending reset and change of
    /// address, also by a person with the old password.
    ///
    /// - Parameter session: The identifier of the session that stays; empty for none.
    func setPasswordHash(_ hash: String, of user: Int64, keeping session: [UInt8] = []) throws {
        try database.execute("UPDATE account SET password_hash = $1 WHERE user_id = $2", [hash, user])
        try database.execute("DELETE FROM session WHERE user_id = $1 AND session_id <> $2", [user, session])
        if try database.has("account_link") { try deleteLinks(of: user) }
    }

    /// Marks the address of an account as verified, unless it is already.
    func verifyEmail(of user: Int64, at moment: Timestamp) throws {
        try database.execute(
            "UPDATE account SET email_verified_at = coalesce(email_verified_at, $1) WHERE user_id = $2", [moment, user])
    }

    /// Sets another address of an account, which no account may have, and cancels what was mailed to the old one.
    ///
    /// - Parameter moment: The time of the address's verification; nil if it is not verified.
    func setEmail(_ email: String, _ lowercase: String, of account: AccountRecord, verifiedAt moment: Timestamp?) throws
    {
        try database.delete(from: "account_email", where: ["email_lowercase"], [[account.emailLowercase]])
        try database.insert(into: "account_email", ["email_lowercase", "user_id"], [[lowercase, account.number]])
        try database.execute(
            "UPDATE account SET email = $1, email_lowercase = $2, email_verified_at = $3 WHERE user_id = $4",
            [email, lowercase, moment, account.number])
        try deleteLinks(of: account.number)
    }
}

/// The e-mail address of an account. Its form allows mail to be sent to it (RFC 5321 section 4.1.2, without quotes, comments or
/// addresses in brackets).
package struct EmailAddress: Hashable, Sendable {
    /// The longest address, in bytes (RFC 5321 section 4.5.3.1.3, without the angle brackets).
    package static let maximumLength = 254

    /// The address as the user wrote it, without surrounding spaces.
    package let text: String
    /// The address in lower case. It identifies the account.
    package var lowercase: String { text.lowercased() }

    /// - Throws: `AccountError`, `emailTooLong` or `emailInvalid`.
    package init(_ text: String) throws(AccountError) {
        // Some keyboards add a space after a completed word.
        let text = String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard text.utf8.count <= Self.maximumLength else { throw .emailTooLong }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isLocalPart(parts[0]), Self.isDomain(parts[1]) else { throw .emailInvalid }
        self.text = text
    }

    private static func isLocalPart(_ text: Substring) -> Bool {
        let symbols = Set("!#$%&'*+/=?^_`{|}~-".utf8)
        return text.utf8.count <= 64
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
                !atom.isEmpty && atom.utf8.allSatisfy { isLetterOrDigit($0) || symbols.contains($0) }
            }
    }

    /// True for at least two labels, of which the last is not a number.
    private static func isDomain(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                    && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
            }
            && labels.last?.utf8.contains { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension Password {
    /// - Parameter email: The address of the account; nil for an account without one.
    package init(_ text: String, of email: EmailAddress?) throws(PasswordError) {
        let names = email.map { [$0.lowercase, String($0.lowercase.prefix { $0 != "@" })] }
        try self.init(text, unlike: names ?? [])
    }
}

extension LedgerFeature {
    /// The accounts of users with the service itself.
    package static let accounts = LedgerFeature(tables: [.accountEmail, .account, .session])
}

extension Table {
    fileprivate static let accountEmail = Table(
        name: "account_email", family: .globalKey, columns: [.text("email_lowercase"), .integer("user_id")],
        key: ["email_lowercase"], owner: (table: "account", keyName: "An e-mail address"))

    /// An account. The lower-case form of the e-mail address identifies it.
    fileprivate static let account = Table(
        name: "account", family: .userData,
        columns: [
            .integer("user_id"), .text("email"), .text("email_lowercase"), .text("password_hash"),
            .integer("created_at"), .integer("email_verified_at").optional,
        ],
        key: ["user_id"], erasure: .deletion)

    /// A session. The ledger stores only the digests of tokens. The previous access token is valid until it expires; the
    /// previous refresh token is not.
    fileprivate static let session = Table(
        name: "session", family: .userData,
        columns: [
            .integer("user_id"), .blob("session_id", count: 16), .blob("refresh_id", count: 16),
            .blob("refresh_digest", count: 32), .blob("access_digest", count: 32),
            .blob("previous_access_digest", count: 32).optional, .integer("began_at"),
            .integer("ends_at", check: "ends_at > began_at"),
        ],
        key: ["user_id", "session_id"],
        erasure: .deletion, restoration: .sessionDeletion
    )
    .referring(to: "account", by: ["user_id"])
    .indexed("session_by_end", by: ["ends_at"])
    .takingBack(
        "ends_at", within: SessionTokens.refreshSeconds,
        setting: """
            ends_at = $1 + \(SessionTokens.refreshSeconds * 1000),
                began_at = CASE WHEN began_at > $1 THEN $1 ELSE began_at END
            """, endsEarly: true)
}
