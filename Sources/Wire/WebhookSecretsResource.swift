/// The signing secrets of a webhook.
public struct WebhookSecretsResource: Codable, Sendable {
    public let secret: String
    /// The previous secret, during its replacement.
    public let previousSecret: String?
    /// RFC 3339, UTC.
    public let previousSecretEndsAt: String?

    public init(secret: String, previousSecret: String? = nil, previousSecretEndsAt: String? = nil) {
        self.secret = secret
        self.previousSecret = previousSecret
        self.previousSecretEndsAt = previousSecretEndsAt
    }
}
