import Features

/// A message to a webhook with the state of its delivery.
package struct WebhookDeliveryResource: Codable, Sendable {
    /// An attempt to deliver a message.
    package struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        let attemptedAt: String
        /// The HTTP status of the response. Nil if there is none.
        package var status: Int?
        /// The reason for a missing response. Nil if there is a response, or before the first attempt.
        package var error: String?
        /// The duration. Nil before the end of the attempt.
        var durationMilliseconds: Int64?
        /// The beginning of the response's body, as text of at most 1024 bytes. Nil if there is none.
        package var response: String?
    }

    package let messageId: String
    package let state: String
    /// The number of attempts since the creation or replay of the message.
    package let attempts: Int
    /// The last attempt. Nil before the first.
    package var lastAttempt: Attempt?
    /// The time of the next attempt. Nil if the message is due now or is not retried.
    package var nextAttemptAt: String?
    /// The message as it is sent. Nil for a webhook of another format.
    package var message: WebhookMessage?
    /// The message in RevenueCat's format, as it would be sent now. Nil for a webhook of another format.
    package var revenueCatMessage: JSONContent?
}
