import Commerce
import Ledger

/// An account that a user has with the service itself, as the ledger keeps it.
public struct AccountRecord: Hashable, Sendable {
    /// Of the service's own issuer.
    public let user: User
    /// As it was typed.
    public let email: String
    /// The form by which accounts are told apart.
    public let emailLowercase: String
    /// In the form of `PasswordHash`.
    public let passwordHash: String
    public let createdAt: Timestamp

    public init(user: User, email: String, emailLowercase: String, passwordHash: String, createdAt: Timestamp) {
        self.user = user
        self.email = email
        self.emailLowercase = emailLowercase
        self.passwordHash = passwordHash
        self.createdAt = createdAt
    }
}
