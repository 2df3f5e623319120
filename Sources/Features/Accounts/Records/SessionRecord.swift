import Ledger
import Proofs

/// A session of a device as the ledger stores it. It has only digests of the tokens.
package struct SessionRecord: Hashable, Sendable {
    /// The user's number.
    package let user: Int64
    /// The identifier in access tokens, 16 bytes. It stays the same from log-in to log-out.
    package let identifier: [UInt8]
    /// The identifier in refresh tokens, 16 bytes.
    package let refreshIdentifier: [UInt8]
    /// The SHA-256 of the valid refresh token.
    package let refreshDigest: [UInt8]
    /// The SHA-256 of the latest access token.
    package let accessDigest: [UInt8]
    /// The SHA-256 of the previous access token, which is valid until it expires; nil if there is none.
    package let previousAccessDigest: [UInt8]?
    package let beganAt: Timestamp
    /// The expiration of the refresh token.
    package let endsAt: Timestamp

    /// The session reference of refresh tokens.
    var refreshReference: SessionReference { SessionReference(identifier: refreshIdentifier, user: user) }

    package init(
        user: Int64,
        identifier: [UInt8],
        refreshIdentifier: [UInt8],
        refreshDigest: [UInt8],
        accessDigest: [UInt8],
        previousAccessDigest: [UInt8]? = nil,
        beganAt: Timestamp,
        endsAt: Timestamp
    ) {
        self.user = user
        self.identifier = identifier
        self.refreshIdentifier = refreshIdentifier
        self.refreshDigest = refreshDigest
        self.accessDigest = accessDigest
        self.previousAccessDigest = previousAccessDigest
        self.beganAt = beganAt
        self.endsAt = endsAt
    }
}

/// The result of a renewal.
package enum SessionRenewal: Hashable, Sendable {
    case renewed
    case unknown
    case ended
    /// The token was an earlier one, so it was copied. The session was ended.
    case reused
}

extension LedgerTransaction {
    /// Opens an account.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Returns: The user's number; nil if the address has an account.
    /// - Throws: `LedgerError.newcomersLimited`.
    package func open(_ account: AccountRecord, newcomers: NewcomerAllowance? = nil) throws -> Int64? {
        let records = AccountRecords(database: database)
        guard try records.account(emailLowercase: account.emailLowercase) == nil else { return nil }
        try newcomers?.charge(account.bytes)
        let numbers = try users.insert([account.user], at: account.createdAt)
        guard let user = numbers[account.user], try records.insert(account, of: user) else { throw damaged }
        return user
    }

    /// The account of an address; nil if there is none.
    ///
    /// - Parameter emailLowercase: The address in lower case.
    package func account(emailLowercase: String) throws -> AccountRecord? {
        try AccountRecords(database: database).account(emailLowercase: emailLowercase)
    }

    /// The account of a user; nil for a user without an account.
    package func account(of user: User) throws -> AccountRecord? {
        guard try database.has("account"), let user = try users.known(user) else { return nil }
        return try AccountRecords(database: database).account(of: user)
    }

    /// Begins a session. It ends the oldest sessions above the account's limit, and deletes the expired sessions of all users.
    package func begin(_ session: SessionRecord) throws {
        try AccountRecords(database: database).insert(session)
    }

    /// A session and its user; nil if the session has ended.
    package func session(access reference: SessionReference) throws -> (session: SessionRecord, user: User)? {
        try AccountRecords(database: database).session(access: reference)
    }

    /// Renews a session by its latest refresh token. An earlier refresh token ends it.
    ///
    /// - Parameters:
    ///   - session: The session with the new tokens. It is found by its refresh identifier. Its start and its previous access
    ///     token are ignored.
    ///   - digest: The digest of the presented refresh token.
    package func renew(
        _ session: SessionRecord,
        presenting digest: [UInt8],
        at moment: Timestamp
    ) throws -> SessionRenewal {
        let records = AccountRecords(database: database)
        guard let known = try records.session(refresh: session.refreshReference) else { return .unknown }
        guard ConstantTime.areEqual(known.refreshDigest, digest) else {
            try records.delete(known)
            return .reused
        }
        guard moment < known.endsAt else { return .ended }
        try records.update(session)
        return .renewed
    }

    /// The session of a refresh token; nil if it has ended.
    package func session(refresh reference: SessionReference) throws -> SessionRecord? {
        try AccountRecords(database: database).session(refresh: reference)
    }

    /// Ends a session. One that has ended stays unchanged.
    package func end(_ session: SessionRecord) throws {
        try AccountRecords(database: database).delete(session)
    }

    /// Sets another password of an account, and ends all its sessions but one.
    ///
    /// - Returns: False if the account was erased or its password was changed meanwhile.
    package func setPasswordHash(_ hash: String, of account: AccountRecord, keeping session: [UInt8]) throws -> Bool {
        guard let user = try unchanged(account) else { return false }
        try AccountRecords(database: database).setPasswordHash(hash, of: user, keeping: session)
        // The change cancels every pending reset and change of address.
        if try database.has("account_link") { try LinkRecords(database: database).deleteAll(of: user) }
        return true
    }

    /// Erases a user with the account.
    ///
    /// - Parameter account: The account whose password was confirmed.
    /// - Returns: False if the account was erased or its password was changed meanwhile.
    package func erase(_ account: AccountRecord, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        guard try unchanged(account) != nil else { return false }
        return try erase(account.user, by: actor, at: moment)
    }

    /// The sessions of a user, newest first.
    package func sessions(of user: User) throws -> [SessionRecord] {
        guard try database.has("session"), let user = try users.known(user) else { return [] }
        return try AccountRecords(database: database).sessions(of: user)
    }

    /// The user's number; nil if the account was erased or its password was changed since it was read.
    package func unchanged(_ account: AccountRecord) throws -> Int64? {
        guard let user = try users.known(account.user),
            try AccountRecords(database: database).account(of: user)?.passwordHash == account.passwordHash
        else { return nil }
        return user
    }
}

extension AccountRecord {
    /// The bytes that the account and its user take in the ledger with a session, about.
    fileprivate var bytes: Int {
        NewcomerAllowance.bytes(ofUserNamed: user) + 512 + 4 * email.utf8.count
    }
}
