import Commerce
import Ledger

/// An account that a user has with the service itself, as the ledger keeps it.
public struct AccountRecord: Hashable, Sendable {
    /// Of the service's own issuer.
    public let user: User
    /// As it was typed; empty for an account whose address was proven to be somebody else's.
    public let email: String
    /// The form by which accounts are told apart.
    public let emailLowercase: String
    /// In the form of `PasswordHash`.
    public let passwordHash: String
    public let createdAt: Timestamp
    /// The moment at which the user proved to read the mail of the address; nil before that.
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
