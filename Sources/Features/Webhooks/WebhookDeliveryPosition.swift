import Proofs

/// The end of a page of deliveries.
public struct WebhookDeliveryPosition: Hashable, Sendable {
    public let happenedAt: Timestamp
    public let messageIdentifier: String

    public init(happenedAt: Timestamp, messageIdentifier: String) {
        self.happenedAt = happenedAt
        self.messageIdentifier = messageIdentifier
    }
}
