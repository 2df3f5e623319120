/// A page of deliveries, newest first.
public struct WebhookDeliveryList: Codable, Sendable {
    public let deliveries: [WebhookDeliveryResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(deliveries: [WebhookDeliveryResource], nextCursor: String? = nil) {
        self.deliveries = deliveries
        self.nextCursor = nextCursor
    }
}
