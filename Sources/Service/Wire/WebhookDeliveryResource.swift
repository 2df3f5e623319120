import Features

/// A message to a webhook with the state of its delivery.
public struct WebhookDeliveryResource: Codable, Sendable {
    /// An attempt to deliver a message.
    public struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        public let attemptedAt: String
        /// The HTTP status of the response. Nil if there is none.
        public let status: Int?
        /// The reason for a missing response. Nil if there is a response, or before the first attempt.
        public let error: String?
        /// The duration. Nil before the end of the attempt.
        public let durationMilliseconds: Int64?
        /// The beginning of the response's body, as text of at most 1024 bytes. Nil if there is none.
        public let response: String?

        public init(
            attemptedAt: String,
            status: Int? = nil,
            error: String? = nil,
            durationMilliseconds: Int64? = nil,
            response: String? = nil
        ) {
            self.attemptedAt = attemptedAt
            self.status = status
            self.error = error
            self.durationMilliseconds = durationMilliseconds
            self.response = response
        }
    }

    public let messageId: String
    public let state: String
    /// The number of attempts since the creation or replay of the message.
    public let attempts: Int
    /// The last attempt. Nil before the first.
    public let lastAttempt: Attempt?
    /// The time of the next attempt. Nil if the message is due now or is not retried.
    public let nextAttemptAt: String?
    /// The message as it is sent. Nil for a webhook of another format.
    public let message: WebhookMessage?
    /// The message in RevenueCat's format, as it would be sent now. Nil for a webhook of another format.
    public let revenueCatMessage: JSONContent?

    public init(
        messageId: String,
        state: String,
        attempts: Int,
        lastAttempt: Attempt? = nil,
        nextAttemptAt: String? = nil,
        message: WebhookMessage? = nil,
        revenueCatMessage: JSONContent? = nil
    ) {
        self.messageId = messageId
        self.state = state
        self.attempts = attempts
        self.lastAttempt = lastAttempt
        self.nextAttemptAt = nextAttemptAt
        self.message = message
        self.revenueCatMessage = revenueCatMessage
    }
}
