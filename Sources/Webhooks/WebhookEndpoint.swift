import Commerce

/// Where a team's back end is told what happens to its users.
public struct WebhookEndpoint: Hashable, Sendable {
    /// A secret that ends, since another has taken its place.
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
    /// The identifier of the API key that has made it.
    public let createdBy: String
    /// What messages are signed with.
    public let secret: [UInt8]
    /// With which they are signed too, until it ends; nil where the secret was never replaced.
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
