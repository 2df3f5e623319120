import Ledger
import Proofs

/// An account as the ledger stores it.
public struct AccountRecord: Hashable, Sendable {
    /// The user, with the service's own issuer.
    public let user: User
    /// The address as the user wrote it; empty after another person has proven that it is theirs.
    public let email: String
    /// The lower-case form, which identifies the account.
    public let emailLowercase: String
    /// The hash in the format of `PasswordHash`.
    public let passwordHash: String
    public let createdAt: Timestamp
    /// The time of the verification of the address; nil before it.
    public let emailVerifiedAt: Timestamp?

    /// The address; nil for an account without one.
    public var address: EmailAddress? { try? EmailAddress(email) }

    public init(
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
