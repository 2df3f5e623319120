/// A page of deliveries, newest first.
package struct WebhookDeliveryList: Codable, Sendable {
    package let deliveries: [WebhookDeliveryResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
