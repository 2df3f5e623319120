import Proofs

/// A change of a webhook by the team. The audit logs are those of users, and have none of these.
public struct WebhookChange: Hashable, Sendable {
    public enum Event: String, Sendable, CaseIterable {
        case added
        /// The detail is the new URL.
        case urlChanged
        /// The detail is the overlap of the secrets in seconds.
        case secretReplaced
        /// The authorization was set or removed. The detail is the word.
        case authorizationChanged
        case removed
        /// A message was sent again. The detail is its identifier.
        case messageReplayed
        /// Several messages were sent again. The detail is their number.
        case messagesReplayed
    }

    public let endpointIdentifier: String
    public let happenedAt: Timestamp
    public let event: Event
    /// The identifier of the API key that acted, or `member NAME` for a person.
    public let changedBy: String
    public let detail: String?
}
