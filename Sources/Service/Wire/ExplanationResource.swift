import Features
import Proofs

/// The reason for owning or not owning an item.
public struct ExplanationResource: Codable, Sendable {
    public let item: Item
    public let isOwned: Bool
    /// A code, such as `expired`.
    public let cause: String
    /// The reason in one or two sentences.
    public let text: String
    /// The remedy.
    public let remedy: String?
    /// The time at which the cause took effect. Dates are RFC 3339, UTC.
    public let since: String?
    public let until: String?
    /// The transaction or the grant; the original transaction of an expected purchase.
    public let reference: String?
    public let origin: Origin?
    /// The owner of a purchase that the user's redemption was refused for.
    public let otherOwner: UserName?

    public init(
        item: Item,
        isOwned: Bool,
        cause: String,
        text: String,
        remedy: String? = nil,
        since: String? = nil,
        until: String? = nil,
        reference: String? = nil,
        origin: Origin? = nil,
        otherOwner: UserName? = nil
    ) {
        self.item = item
        self.isOwned = isOwned
        self.cause = cause
        self.text = text
        self.remedy = remedy
        self.since = since
        self.until = until
        self.reference = reference
        self.origin = origin
        self.otherOwner = otherOwner
    }
}
