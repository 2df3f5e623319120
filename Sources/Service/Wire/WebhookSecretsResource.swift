/// The secrets of a webhook.
package struct WebhookSecretsResource: Codable, Sendable {
    /// The secret that signs messages.
    package let secret: String
    /// The previous secret, during its replacement.
    package var previousSecret: String?
    /// RFC 3339, UTC.
    package var previousSecretEndsAt: String?
    /// The header `Authorization` of each message. Nil if there is none.
    package var authorization: String?
}
