import Ledger
import Proofs

/// The rule of all that strangers write: it is charged, unless the user has a purchase.
extension LedgerTransaction {
    /// Takes the bytes that are written for a user from the caller's allowance, unless the user has a purchase.
    ///
    /// - Parameters:
    ///   - user: The user's number.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int, for user: Int64, to newcomers: NewcomerAllowance?) throws {
        guard let newcomers, bytes > 0, try !CustomerRecords(database: database).hasPurchases(user) else { return }
        try newcomers.charge(bytes)
    }

    /// Takes the bytes of an answer that is kept about a user in the same way.
    ///
    /// - Returns: False if the answer may not be kept.
    package func admits(_ answer: KeptAnswer, about user: Int64, _ newcomers: NewcomerAllowance?) throws -> Bool {
        do {
            // The key, its caller and the digest of the request come with the answer.
            try charge(512 + answer.bytes.count, for: user, to: newcomers)
            return true
        } catch LedgerError.newcomersLimited {
            return false
        }
    }
}
