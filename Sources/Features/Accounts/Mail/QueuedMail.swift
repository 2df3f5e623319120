import Proofs

/// A mail in the queue, waiting or sent.
///
/// It has no text and no secret. Each attempt creates a new token for the link, in the commit that begins the attempt. The
/// ledger stores only the token's digest.
package struct QueuedMail: Hashable, Sendable {
    /// The user's number.
    let user: Int64
    /// A random identifier, the same for each attempt.
    package let identifier: String
    package let purpose: LinkPurpose
    /// The recipient, as the user wrote the address.
    package let email: String
    /// The language of the text, such as `en`.
    package let language: String
    package let createdAt: Timestamp
    /// The number of attempts that have begun.
    package let attempts: Int
    /// Nil for a mail that was sent or given up.
    package let nextAttemptAt: Timestamp?
    package let sentAt: Timestamp?
    /// The code of the last failure; nil if there was none.
    package let lastError: String?

    package init(
        user: Int64,
        identifier: String,
        purpose: LinkPurpose,
        email: String,
        language: String,
        createdAt: Timestamp,
        attempts: Int = 0,
        nextAttemptAt: Timestamp?,
        sentAt: Timestamp? = nil,
        lastError: String? = nil
    ) {
        self.user = user
        self.identifier = identifier
        self.purpose = purpose
        self.email = email
        self.language = language
        self.createdAt = createdAt
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.sentAt = sentAt
        self.lastError = lastError
    }
}
