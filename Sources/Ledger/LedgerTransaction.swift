import Proofs

/// A transaction of the ledger, with the operations of a use case.
///
/// It is valid only inside the call of `Ledger.read` or `Ledger.write` that passes it.
package struct LedgerTransaction {
    package let database: any LedgerDatabase
    /// A source of random bytes for account tokens, tombstones and the salts of erasable texts.
    package let randomness: Randomness
    /// The fault of a ledger that lacks a row just written.
    package let damaged: StorageFault
    /// The names that stand for no user.
    package let blockedNames: BlockedNames

    package var users: UserRecords { UserRecords(database: database, randomness: randomness) }

    package var audit: AuditRecords { AuditRecords(database: database, randomness: randomness) }

    /// The number of a user. A new user gets one.
    ///
    /// - Throws: `LedgerError.userBlocked`; `LedgerError.userUnknown` if the account was never opened, or was erased.
    package func number(of user: User, at moment: Timestamp) throws -> Int64 {
        try requireName(of: user)
        guard let number = try users.identifier(of: user, at: moment) else { throw LedgerError.userUnknown }
        return number
    }

    /// - Throws: `LedgerError.userBlocked` if the user's name stands for no user.
    package func requireName(of user: User) throws(LedgerError) {
        guard !blockedNames.contains(user) else { throw .userBlocked }
    }
}
