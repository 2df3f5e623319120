/// A page of deliveries, newest first.
public struct WebhookDeliveryList: Codable, Sendable {
    public let deliveries: [WebhookDeliveryResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(deliveries: [WebhookDeliveryResource], nextCursor: String? = nil) {
        self.deliveries = deliveries
        self.nextCursor = nextCursor
    }
}
