/// A webhook.
public struct WebhookResource: Codable, Sendable {
    public let webhookId: String
    public let url: String
    /// The format of the messages: `till` or `revenuecat`.
    public let format: String
    /// True if each message has the header `Authorization`. Its value is one of the webhook's secrets.
    public let hasAuthorization: Bool
    /// RFC 3339, UTC.
    public let createdAt: String
    /// The identifier of the API key.
    public let createdBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let createdByName: String?
    /// The bundle identifier of the only app whose events it receives; nil for all events.
    public let app: String?
    /// The signing secret. Nil except in the response that creates the webhook.
    public let secret: String?

    public init(
        webhookId: String,
        url: String,
        format: String,
        hasAuthorization: Bool,
        createdAt: String,
        createdBy: String,
        createdByName: String? = nil,
        app: String? = nil,
        secret: String? = nil
    ) {
        self.webhookId = webhookId
        self.url = url
        self.format = format
        self.hasAuthorization = hasAuthorization
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.createdByName = createdByName
        self.app = app
        self.secret = secret
    }
}
