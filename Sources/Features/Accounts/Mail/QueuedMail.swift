import Proofs

/// A mail in the queue, waiting or sent.
///
/// It has no text and no secret. Each attempt creates a new token for the link, in the commit that begins the attempt. The
/// ledger stores only the token's digest.
public struct QueuedMail: Hashable, Sendable {
    /// The user's number.
    let user: Int64
    /// A random identifier, the same for each attempt.
    public let identifier: String
    public let purpose: LinkPurpose
    /// The recipient, as the user wrote the address.
    public let email: String
    /// The language of the text, such as `en`.
    public let language: String
    public let createdAt: Timestamp
    /// The number of attempts that have begun.
    public let attempts: Int
    /// Nil for a mail that was sent or given up.
    public let nextAttemptAt: Timestamp?
    public let sentAt: Timestamp?
    /// The code of the last failure; nil if there was none.
    public let lastError: String?

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
