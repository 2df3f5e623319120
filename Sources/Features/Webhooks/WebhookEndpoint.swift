import Proofs

/// An endpoint of a team's back end that receives webhooks.
public struct WebhookEndpoint: Hashable, Sendable {
    /// A replaced secret, and the end of its validity.
    public struct EndingSecret: Hashable, Sendable {
        public let bytes: [UInt8]
        public let endsAt: Timestamp

        public init(bytes: [UInt8], endsAt: Timestamp) {
            self.bytes = bytes
            self.endsAt = endsAt
        }
    }

    public let identifier: String
    public let url: String
    /// The format of the messages, which never changes.
    public let format: WebhookFormat
    public let createdAt: Timestamp
    /// The identifier of the API key that created the endpoint.
    public let createdBy: String
    /// The secret that signs messages.
    public let secret: [UInt8]
    /// The previous secret, which also signs messages until it ends; nil if the secret was never replaced.
    public let previousSecret: EndingSecret?
    /// The header `Authorization` of each message; nil for none.
    public let authorization: WebhookAuthorization?
    /// The bundle identifier of the only app whose events it receives, that of the key that created it; nil for all events.
    public let app: String?

    public init(
        identifier: String,
        url: String,
        format: WebhookFormat = .till,
        createdAt: Timestamp,
        createdBy: String,
        secret: [UInt8],
        previousSecret: EndingSecret? = nil,
        authorization: WebhookAuthorization? = nil,
        app: String? = nil
    ) {
        self.identifier = identifier
        self.url = url
        self.format = format
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.secret = secret
        self.previousSecret = previousSecret
        self.authorization = authorization
        self.app = app
    }
}
