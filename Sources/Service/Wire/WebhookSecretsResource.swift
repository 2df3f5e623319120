/// The secrets of a webhook.
public struct WebhookSecretsResource: Codable, Sendable {
    /// The secret that signs messages.
    public let secret: String
    /// The previous secret, during its replacement.
    public let previousSecret: String?
    /// RFC 3339, UTC.
    public let previousSecretEndsAt: String?
    /// The header `Authorization` of each message. Nil if there is none.
    public let authorization: String?

    public init(
        secret: String,
        previousSecret: String? = nil,
        previousSecretEndsAt: String? = nil,
        authorization: String? = nil
    ) {
        self.secret = secret
        self.previousSecret = previousSecret
        self.previousSecretEndsAt = previousSecretEndsAt
        self.authorization = authorization
    }
}
