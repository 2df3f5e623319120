import Commerce

/// The durable record of accounts and sessions; each call as those of `Ledger` are.
public protocol AccountLedger: Ledger {
    /// Opens an account, with a first session.
    ///
    /// - Returns: false, and opens none, where the address has one.
    func open(_ account: AccountRecord, beginning session: SessionRecord) throws(StorageFault) -> Bool

    /// nil where the address has none.
    ///
    /// - Parameter emailLowercase: The address in small letters.
    func account(emailLowercase: String) throws(StorageFault) -> AccountRecord?

    /// nil for a user without an account.
    func account(of user: User) throws(StorageFault) -> AccountRecord?

    /// Begins a session of somebody who has shown the account's password. Of many sessions of one account, the oldest end; so
    /// do those of anybody that nobody has renewed in time.
    ///
    /// - Returns: false where the account is gone by now, or has another password.
    func begin(_ session: SessionRecord, of account: AccountRecord) throws(StorageFault) -> Bool

    /// A session, and whose it is; nil for one that has ended.
    func session(_ identifier: [UInt8]) throws(StorageFault) -> (session: SessionRecord, user: User)?

    /// Gives a session new tokens, for the refresh token given last; another ends it.
    ///
    /// - Parameters:
    ///   - session: With the new tokens; found by its refresh token's name. When it began, and its former access token, stay
    ///     what they were.
    ///   - digest: Of the refresh token presented.
    func renew(
        _ session: SessionRecord,
        presenting digest: [UInt8],
        at moment: Timestamp
    ) throws(StorageFault) -> SessionRenewal

    /// The session of a refresh token; nil for one that has ended.
    func session(refresh identifier: [UInt8]) throws(StorageFault) -> SessionRecord?

    /// Ends the session of a refresh token; one that has ended stays so.
    func endSession(refresh identifier: [UInt8]) throws(StorageFault)

    /// Gives an account another password, and ends its sessions but one.
    ///
    /// - Returns: false where the account is gone by now, or has another password than it had.
    func setPasswordHash(
        _ hash: String,
        of account: AccountRecord,
        keeping session: [UInt8]
    ) throws(StorageFault) -> Bool
}
