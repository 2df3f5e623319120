import Proofs

/// The end of a page of deliveries.
package struct WebhookDeliveryPosition: Hashable, Sendable {
    package let happenedAt: Timestamp
    package let messageIdentifier: String

    package init(happenedAt: Timestamp, messageIdentifier: String) {
        self.happenedAt = happenedAt
        self.messageIdentifier = messageIdentifier
    }
}
