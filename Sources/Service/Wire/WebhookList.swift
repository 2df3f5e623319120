/// All webhooks.
package struct WebhookList: Codable, Sendable {
    package let webhooks: [WebhookResource]
}
