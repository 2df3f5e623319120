/// All webhooks.
public struct WebhookList: Codable, Sendable {
    public let webhooks: [WebhookResource]

    public init(webhooks: [WebhookResource]) {
        self.webhooks = webhooks
    }
}
