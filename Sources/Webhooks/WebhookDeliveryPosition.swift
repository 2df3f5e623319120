import Commerce

/// Where a page of deliveries ends.
public struct WebhookDeliveryPosition: Hashable, Sendable {
    public let happenedAt: Timestamp
    public let messageIdentifier: String

    public init(happenedAt: Timestamp, messageIdentifier: String) {
        self.happenedAt = happenedAt
        self.messageIdentifier = messageIdentifier
    }
}
