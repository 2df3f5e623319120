import Proofs

/// An endpoint of a team's back end that receives webhooks.
package struct WebhookEndpoint: Hashable, Sendable {
    /// A replaced secret, and the end of its validity.
    package struct EndingSecret: Hashable, Sendable {
        package let bytes: [UInt8]
        package let endsAt: Timestamp

        package init(bytes: [UInt8], endsAt: Timestamp) {
            self.bytes = bytes
            self.endsAt = endsAt
        }
    }

    package let identifier: String
    package let url: String
    /// The format of the messages, which never changes.
    package let format: WebhookFormat
    package let createdAt: Timestamp
    /// The identifier of the API key that created the endpoint.
    package let createdBy: String
    /// The secret that signs messages.
    package let secret: [UInt8]
    /// The previous secret, which also signs messages until it ends; nil if the secret was never replaced.
    package let previousSecret: EndingSecret?
    /// The header `Authorization` of each message; nil for none.
    package let authorization: WebhookAuthorization?
    /// The bundle identifier of the only app whose events it receives, that of the key that created it; nil for all events.
    package let app: String?

    package init(
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
