/// A webhook.
public struct WebhookResource: Codable, Sendable {
    public let webhookId: String
    public let url: String
    /// RFC 3339, UTC.
    public let createdAt: String
    /// The identifier of the API key.
    public let createdBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let createdByName: String?
    /// The signing secret. Nil except in the response that creates the webhook.
    public let secret: String?

    public init(
        webhookId: String,
        url: String,
        createdAt: String,
        createdBy: String,
        createdByName: String? = nil,
        secret: String? = nil
    ) {
        self.webhookId = webhookId
        self.url = url
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.createdByName = createdByName
        self.secret = secret
    }
}
