import Proofs

/// The result of an attempt to deliver a message.
package struct WebhookResult: Hashable, Sendable {
    /// The delivery when it was leased.
    package let delivery: WebhookDelivery
    package let outcome: WebhookDelivery.Outcome
    package let isDelivered: Bool
    /// The time of the next attempt; nil if the message was delivered or given up.
    let nextAttemptAt: Timestamp?
    /// The duration of the attempt; nil if it is unknown.
    package let milliseconds: Int64?
    /// The beginning of the answer's body; nil for an answer without a body.
    package let response: String?

    /// True if only a replay makes another attempt.
    package var isGivenUp: Bool { !isDelivered && nextAttemptAt == nil }

    package init(
        of delivery: WebhookDelivery,
        _ outcome: WebhookDelivery.Outcome,
        isDelivered: Bool,
        nextAttemptAt: Timestamp?,
        milliseconds: Int64? = nil,
        response: WebhookResponse? = nil
    ) {
        self.delivery = delivery
        self.outcome = outcome
        self.isDelivered = isDelivered
        self.nextAttemptAt = nextAttemptAt
        self.milliseconds = milliseconds
        self.response = response?.text
    }
}
