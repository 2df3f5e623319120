import Proofs

/// A change of a webhook by the team. The audit logs are those of users, and have none of these.
package struct WebhookChange: Hashable, Sendable {
    package enum Event: String, Sendable, CaseIterable {
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

    package let endpointIdentifier: String
    package let happenedAt: Timestamp
    package let event: Event
    /// The identifier of the API key that acted, or `member NAME` for a person.
    package let changedBy: String
    package let detail: String?
}
