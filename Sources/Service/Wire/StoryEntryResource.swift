import Features
import Proofs

/// An entry of a user's story.
public struct StoryEntryResource: Codable, Sendable {
    /// The time at which the entry took effect (RFC 3339, UTC).
    public let happenedAt: String
    /// `notification`, or an event of the audit log.
    public let kind: String
    /// The entry in a sentence.
    public let text: String
    /// `user`, `App Store`, `till`, or `key` with the identifier of an API key.
    public let actor: String
    /// The name of the API key; nil for another actor, and if the ledger does not have the key.
    public let actorName: String?
    /// The product, the item or the balance.
    public let subject: String?
    /// The transaction, grant, spending or notification.
    public let reference: String?
    public let origin: Origin?
    /// The reason in the team's words, or the code of a refusal.
    public let reason: String?
    /// The cause of a refusal.
    public let cause: String?
    /// The remedy of a refusal.
    public let remedy: String?
    /// The owner of a purchase that the user's redemption was refused for.
    public let otherOwner: UserName?
    public let notification: StatedNotificationResource?

    public init(
        happenedAt: String,
        kind: String,
        text: String,
        actor: String,
        actorName: String? = nil,
        subject: String? = nil,
        reference: String? = nil,
        origin: Origin? = nil,
        reason: String? = nil,
        cause: String? = nil,
        remedy: String? = nil,
        otherOwner: UserName? = nil,
        notification: StatedNotificationResource? = nil
    ) {
        self.happenedAt = happenedAt
        self.kind = kind
        self.text = text
        self.actor = actor
        self.actorName = actorName
        self.subject = subject
        self.reference = reference
        self.origin = origin
        self.reason = reason
        self.cause = cause
        self.remedy = remedy
        self.otherOwner = otherOwner
        self.notification = notification
    }
}
