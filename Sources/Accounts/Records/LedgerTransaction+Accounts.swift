import Commerce
import Ledger
import Signatures

extension LedgerTransaction {
    /// Opens an account.
    ///
    /// - Returns: The user's number; nil if the address has an account.
    public func open(_ account: AccountRecord) throws -> Int64? {
        let records = AccountRecords(database: database)
        guard try records.account(emailLowercase: account.emailLowercase) == nil else { return nil }
        let numbers = try users.insert([account.user], at: account.createdAt)
        guard let user = numbers[account.user], try records.insert(account, of: user) else { throw damaged }
        return user
    }

    /// nil where the address has none.
    ///
    /// - Parameter emailLowercase: The address in small letters.
    public func account(emailLowercase: String) throws -> AccountRecord? {
        try AccountRecords(database: database).account(emailLowercase: emailLowercase)
    }

    /// nil for a user without an account.
    public func account(of user: User) throws -> AccountRecord? {
        guard try database.has("account"), let user = try users.known(user) else { return nil }
        return try AccountRecords(database: database).account(of: user)
    }

    /// Begins a session. Of many sessions of one account the oldest end, and so do the expired sessions of all users.
    public func begin(_ session: SessionRecord) throws {
        try AccountRecords(database: database).insert(session)
    }

    /// A session and its user; nil for a session that has ended.
    public func session(access reference: SessionReference) throws -> (session: SessionRecord, user: User)? {
        try AccountRecords(database: database).session(access: reference)
    }

    /// Gives a session new tokens, for the refresh token given last; another ends it.
    ///
    /// - Parameters:
    ///   - session: With the new tokens; found by its refresh token's name. When it began, and its former access token, stay
    ///     what they were.
    ///   - digest: Of the refresh token presented.
    public func renew(
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

    /// The session of a refresh token; nil for one that has ended.
    public func session(refresh reference: SessionReference) throws -> SessionRecord? {
        try AccountRecords(database: database).session(refresh: reference)
    }

    /// Ends a session, unless it has ended.
    public func end(_ session: SessionRecord) throws {
        try AccountRecords(database: database).delete(session)
    }

    /// Gives an account another password, and ends its sessions but one.
    ///
    /// - Returns: false where the account is gone by now, or has another password than it had.
    public func setPasswordHash(
        _ hash: String,
        of account: AccountRecord,
        keeping session: [UInt8]
    ) throws -> Bool {
        guard let user = try unchanged(account) else { return false }
        try AccountRecords(database: database).setPasswordHash(hash, of: user, keeping: session)
        // Nobody else's reset or change of the address goes on.
        if try database.has("account_link") { try LinkRecords(database: database).deleteAll(of: user) }
        return true
    }

    /// Erases who a user is, with the account.
    ///
    /// - Parameter account: As it was when its password was shown.
    /// - Returns: false where the account is gone by now, or has another password.
    public func erase(_ account: AccountRecord, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        guard try unchanged(account) != nil else { return false }
        return try erase(account.user, by: actor, at: moment)
    }

    /// Newest first.
    package func sessions(of user: User) throws -> [SessionRecord] {
        guard try database.has("session"), let user = try users.known(user) else { return [] }
        return try AccountRecords(database: database).sessions(of: user)
    }

    /// The user's number; nil if the account has ended, or has another password than when it was read.
    public func unchanged(_ account: AccountRecord) throws -> Int64? {
        guard let user = try users.known(account.user),
            try AccountRecords(database: database).account(of: user)?.passwordHash == account.passwordHash
        else { return nil }
        return user
    }
}
