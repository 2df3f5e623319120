import Commerce

/// The permission of a caller to write for users without a purchase, in bytes.
///
/// Anybody with an app's public key can invent users, and present somebody's purchase for each of them. A transaction that runs
/// again takes its bytes again.
public struct NewcomerAllowance: Sendable {
    /// The bytes that a recorded refusal takes in the ledger with its audit record, about.
    static let bytesOfRefusal = 512

    private let takeBytes: @Sendable (Int) -> Int?

    /// - Parameter takeBytes: Takes bytes, all or none. Returns nil if they were available, otherwise the seconds until they are.
    public init(takeBytes: @escaping @Sendable (Int) -> Int?) {
        self.takeBytes = takeBytes
    }

    /// Takes bytes, all or none.
    ///
    /// - Returns: Nil if they were available, otherwise the seconds until they are.
    public func take(_ bytes: Int) -> Int? { takeBytes(bytes) }

    /// The bytes that a new user takes in the ledger, about: the names, the account token and the audit log.
    public static func bytes(ofUserNamed names: User...) -> Int {
        1024 + names.reduce(0) { $0 + 2 * $1.name.utf8.count }
    }
}
