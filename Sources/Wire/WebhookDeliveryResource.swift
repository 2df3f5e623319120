/// A message to a webhook, and the state of its delivery.
public struct WebhookDeliveryResource: Codable, Sendable {
    /// One try to deliver a message.
    public struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        public let attemptedAt: String
        /// The HTTP status of the answer; nil without an answer.
        public let status: Int?
        /// The reason for a missing answer; nil with an answer, or before one.
        public let error: String?

        public init(attemptedAt: String, status: Int? = nil, error: String? = nil) {
            self.attemptedAt = attemptedAt
            self.status = status
            self.error = error
        }
    }

    public let messageId: String
    public let state: String
    /// The number of tries since the message was made or replayed.
    public let attempts: Int
    /// Nil before the first try.
    public let lastAttempt: Attempt?
    /// Nil for a message that is due now or is not tried again.
    public let nextAttemptAt: String?
    /// The message as it is sent.
    public let message: WebhookMessage?

    public init(
        messageId: String,
        state: String,
        attempts: Int,
        lastAttempt: Attempt? = nil,
        nextAttemptAt: String? = nil,
        message: WebhookMessage? = nil
    ) {
        self.messageId = messageId
        self.state = state
        self.attempts = attempts
        self.lastAttempt = lastAttempt
        self.nextAttemptAt = nextAttemptAt
        self.message = message
    }
}
