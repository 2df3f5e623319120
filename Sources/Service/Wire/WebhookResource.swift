/// A webhook.
package struct WebhookResource: Codable, Sendable {
    package let webhookId: String
    package let url: String
    /// The format of the messages: `till` or `revenuecat`.
    package let format: String
    /// True if each message has the header `Authorization`. Its value is one of the webhook's secrets.
    package let hasAuthorization: Bool
    /// RFC 3339, UTC.
    package let createdAt: String
    /// The identifier of the API key.
    package let createdBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    package var createdByName: String?
    /// The bundle identifier of the only app whose events it receives; nil for all events.
    package var app: String?
    /// The signing secret. Nil except in the response that creates the webhook.
    package var secret: String?
}
