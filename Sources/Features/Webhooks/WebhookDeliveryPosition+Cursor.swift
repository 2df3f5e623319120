import Proofs

extension WebhookDeliveryPosition {
    package init(_ delivery: WebhookDelivery) {
        self.init(happenedAt: delivery.entry.happenedAt, messageIdentifier: delivery.messageIdentifier)
    }

    /// - Parameter cursor: The text of `cursor`, from a client.
    /// - Returns: Nil for an invalid cursor.
    package init?(cursor: String) {
        let parts = cursor.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), !parts[1].utf8.contains(0) else { return nil }
        self.init(
            happenedAt: Timestamp(millisecondsSince1970: milliseconds), messageIdentifier: String(parts[1]))
    }

    package var cursor: String { "\(happenedAt.millisecondsSince1970) \(messageIdentifier)" }
}
