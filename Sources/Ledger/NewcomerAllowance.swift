import Proofs

/// The permission of a caller to write for users without a purchase, in bytes.
///
/// Anybody with an app's public key can invent users, and anybody can sign up. A transaction that runs again takes its bytes again.
package struct NewcomerAllowance: Sendable {
    private let takeBytes: @Sendable (Int) -> Int?

    /// - Parameter takeBytes: Takes bytes, all or none. Returns nil if they were available, otherwise the seconds until they are.
    package init(takeBytes: @escaping @Sendable (Int) -> Int?) {
        self.takeBytes = takeBytes
    }

    /// Takes bytes, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    package func take(_ bytes: Int) -> Int? { takeBytes(bytes) }

    /// Takes bytes, all or none.
    ///
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int) throws(LedgerError) {
        if let seconds = take(bytes) { throw .newcomersLimited(secondsToWait: seconds) }
    }

    /// The bytes that a new user takes in the ledger, about: the names, the account token and the audit log.
    package static func bytes(ofUserNamed names: User...) -> Int {
        1024 + names.reduce(0) { $0 + 2 * $1.name.utf8.count }
    }
}
