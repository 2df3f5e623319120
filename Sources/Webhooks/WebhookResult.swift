import Commerce

/// The result of an attempt to deliver a message.
public struct WebhookResult: Hashable, Sendable {
    /// The delivery when it was leased.
    public let delivery: WebhookDelivery
    public let outcome: WebhookDelivery.Outcome
    public let isDelivered: Bool
    /// The time of the next attempt; nil if the message was delivered or given up.
    let nextAttemptAt: Timestamp?

    /// True if only a replay makes another attempt.
    public var isGivenUp: Bool { !isDelivered && nextAttemptAt == nil }

    public init(
        of delivery: WebhookDelivery,
        _ outcome: WebhookDelivery.Outcome,
        isDelivered: Bool,
        nextAttemptAt: Timestamp?
    ) {
        self.delivery = delivery
        self.outcome = outcome
        self.isDelivered = isDelivered
        self.nextAttemptAt = nextAttemptAt
    }
}
