import Features
import Proofs

/// An entry of a user's story.
package struct StoryEntryResource: Codable, Sendable {
    /// The time at which the entry took effect (RFC 3339, UTC).
    package let happenedAt: String
    /// `notification`, or an event of the audit log.
    package let kind: String
    /// The entry in a sentence.
    package let text: String
    /// `user`, `App Store`, `till`, or `key` with the identifier of an API key.
    package let actor: String
    /// The name of the API key; nil for another actor, and if the ledger does not have the key.
    package var actorName: String?
    /// The product, the item or the balance.
    package var subject: String?
    /// The transaction, grant, spending or notification.
    package var reference: String?
    package var origin: Origin?
    /// The reason in the team's words, or the code of a refusal.
    package var reason: String?
    /// The cause of a refusal.
    package var cause: String?
    /// The remedy of a refusal.
    package var remedy: String?
    /// The owner of a purchase that the user's redemption was refused for.
    package var otherOwner: UserName?
    package var notification: StatedNotificationResource?
}
