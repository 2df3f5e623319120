import Commerce

/// How an attempt to deliver a message has ended, and what comes of it.
public struct WebhookResult: Hashable, Sendable {
    /// As it was taken.
    public let delivery: WebhookDelivery
    public let outcome: WebhookDelivery.Outcome
    public let isDelivered: Bool
    /// nil where it has arrived, or is given up.
    let nextAttemptAt: Timestamp?

    /// Whether only somebody's hand tries it again.
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
