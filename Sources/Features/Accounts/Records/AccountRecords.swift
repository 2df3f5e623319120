import Ledger
import Proofs

/// The SQL of accounts and sessions, inside the caller's transaction.
struct AccountRecords {
    /// The maximum number of sessions of an account.
    static let maximumSessions = 50

    let database: any LedgerDatabase

    private static let accounts = #"SELECT account.*, issuer, name FROM account JOIN "user" USING (user_id)"#

    /// - Returns: False if the address has an account.
    func insert(_ account: AccountRecord, of user: Int64) throws -> Bool {
        let isNew =
            try database.execute(
                "INSERT INTO account_email (email_lowercase, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [account.emailLowercase, user]) == 1
        guard isNew else { return false }
        try database.insert(
            into: "account", ["user_id", "email", "email_lowercase", "password_hash", "created_at"],
            [[user, account.email, account.emailLowercase, account.passwordHash, account.createdAt]])
        return true
    }

    func account(emailLowercase: String) throws -> AccountRecord? {
        let user: Int64? = try database.value(
            "SELECT user_id FROM account_email WHERE email_lowercase = $1", [emailLowercase])
        return try user.flatMap(account(of:))
    }

    func account(of user: Int64) throws -> AccountRecord? {
        try database.row("\(Self.accounts) WHERE user_id = $1", [user]).map(Self.account)
    }

    func insert(_ session: SessionRecord) throws {
        try database.execute("DELETE FROM session WHERE ends_at <= $1", [session.beganAt])
        try database.execute(
            """
            DELETE FROM session WHERE user_id = $1 AND session_id IN (
                SELECT session_id FROM session WHERE user_id = $1
                ORDER BY began_at DESC, session_id LIMIT \(Int64.max) OFFSET \(Self.maximumSessions - 1))
            """,
            [session.user])
        try database.execute(
            """
            INSERT INTO session (
                session_id, refresh_id, user_id, refresh_digest, access_digest, previous_access_digest, began_at, ends_at
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                session.identifier, session.refreshIdentifier, session.user, session.refreshDigest,
                session.accessDigest,
                session.previousAccessDigest, session.beganAt, session.endsAt,
            ])
    }

    /// - Parameter access: The session reference of an access token.
    func session(access: SessionReference) throws -> (session: SessionRecord, user: User)? {
        let row = try database.row(
            """
            SELECT session.*, issuer, name FROM session JOIN "user" USING (user_id)
            WHERE user_id = $1 AND session_id = $2
            """,
            [access.user, access.identifier])
        return try row.map { (try Self.session($0), try Self.user($0)) }
    }

    func session(refresh: SessionReference) throws -> SessionRecord? {
        try database.row(
            "SELECT * FROM session WHERE user_id = $1 AND refresh_id = $2", [refresh.user, refresh.identifier]
        ).map(Self.session)
    }

    /// The sessions of a user, newest first.
    func sessions(of user: Int64) throws -> [SessionRecord] {
        try database.rows("SELECT * FROM session WHERE user_id = $1 ORDER BY began_at DESC, session_id", [user])
            .map(Self.session)
    }

    /// Updates a session. The previous access token stays valid until it expires.
    func update(_ session: SessionRecord) throws {
        try database.execute(
            """
            UPDATE session SET refresh_digest = $1, previous_access_digest = access_digest, access_digest = $2, ends_at = $3
            WHERE user_id = $4 AND session_id = $5
            """,
            [session.refreshDigest, session.accessDigest, session.endsAt, session.user, session.identifier])
    }

    func delete(_ session: SessionRecord) throws {
        try database.delete(from: "session", where: ["user_id", "session_id"], [[session.user, session.identifier]])
    }

    func setPasswordHash(_ hash: String, of user: Int64, keeping session: [UInt8]) throws {
        try database.execute("UPDATE account SET password_hash = $1 WHERE user_id = $2", [hash, user])
        try database.execute("DELETE FROM session WHERE user_id = $1 AND session_id <> $2", [user, session])
    }

    /// Marks the address of an account as verified, unless it is already.
    func verifyEmail(of user: Int64, at moment: Timestamp) throws {
        try database.execute(
            "UPDATE account SET email_verified_at = coalesce(email_verified_at, $1) WHERE user_id = $2", [moment, user])
    }

    /// Sets another address of an account. No account may have the address.
    ///
    /// - Parameter moment: The time of the address's verification; nil if it is not verified.
    func setEmail(_ email: String, _ lowercase: String, of user: Int64, verifiedAt moment: Timestamp?) throws {
        let old: String? = try database.value("SELECT email_lowercase FROM account WHERE user_id = $1", [user])
        if let old { try database.delete(from: "account_email", where: ["email_lowercase"], [[old]]) }
        try database.insert(into: "account_email", ["email_lowercase", "user_id"], [[lowercase, user]])
        try database.execute(
            "UPDATE account SET email = $1, email_lowercase = $2, email_verified_at = $3 WHERE user_id = $4",
            [email, lowercase, moment, user])
    }

    private static func account(_ row: SQLRow) throws -> AccountRecord {
        AccountRecord(
            user: try user(row), email: try row["email"], emailLowercase: try row["email_lowercase"],
            passwordHash: try row["password_hash"], createdAt: try row["created_at"],
            emailVerifiedAt: try row["email_verified_at"])
    }

    private static func session(_ row: SQLRow) throws -> SessionRecord {
        SessionRecord(
            user: try row["user_id"], identifier: try row["session_id"], refreshIdentifier: try row["refresh_id"],
            refreshDigest: try row["refresh_digest"],
            accessDigest: try row["access_digest"], previousAccessDigest: try row["previous_access_digest"],
            beganAt: try row["began_at"], endsAt: try row["ends_at"])
    }

    private static func user(_ row: SQLRow) throws -> User {
        guard let user = User(issuer: try row["issuer"], name: try row["name"]) else {
            throw SQLRow.Mismatch(column: "name")
        }
        return user
    }
}

/// An account as the ledger stores it.
package struct AccountRecord: Hashable, Sendable {
    /// The user, with the service's own issuer.
    package let user: User
    /// The address as the user wrote it; empty after another person has proven that it is theirs.
    package let email: String
    /// The lower-case form, which identifies the account.
    package let emailLowercase: String
    /// The hash in the format of `PasswordHash`.
    package let passwordHash: String
    package let createdAt: Timestamp
    /// The time of the verification of the address; nil before it.
    package let emailVerifiedAt: Timestamp?

    /// The address; nil for an account without one.
    package var address: EmailAddress? { try? EmailAddress(email) }

    package init(
        user: User,
        email: String,
        emailLowercase: String,
        passwordHash: String,
        createdAt: Timestamp,
        emailVerifiedAt: Timestamp? = nil
    ) {
        self.user = user
        self.email = email
        self.emailLowercase = emailLowercase
        self.passwordHash = passwordHash
        self.createdAt = createdAt
        self.emailVerifiedAt = emailVerifiedAt
    }
}
