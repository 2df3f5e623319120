import Ledger
import Proofs

/// An account as the ledger stores it.
package struct AccountRecord: Hashable, Sendable {
    /// The user, with the service's own issuer.
    package let user: User
    /// The address as the user wrote it; empty after another person has proven that it is theirs.
    package let email: String
    /// The lower-case form, which identifies the account.
    package let emailLowercase: String
    /// The hash in the format of `PasswordHash`.
    package let passwordHash: String
    package let createdAt: Timestamp
    /// The time of the verification of the address; nil before it.
    package let emailVerifiedAt: Timestamp?

    /// The address; nil for an account without one.
    package var address: EmailAddress? { try? EmailAddress(email) }

    package init(
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
