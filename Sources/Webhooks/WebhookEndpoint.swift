import Commerce

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
    public let createdAt: Timestamp
    /// The identifier of the API key that created the endpoint.
    public let createdBy: String
    /// The secret that signs messages.
    public let secret: [UInt8]
    /// The previous secret, which also signs messages until it ends; nil if the secret was never replaced.
    public let previousSecret: EndingSecret?

    public init(
        identifier: String,
        url: String,
        createdAt: Timestamp,
        createdBy: String,
        secret: [UInt8],
        previousSecret: EndingSecret? = nil
    ) {
        self.identifier = identifier
        self.url = url
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.secret = secret
        self.previousSecret = previousSecret
    }
}
