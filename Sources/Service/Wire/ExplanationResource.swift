import Features
import Proofs

/// The reason for owning or not owning an item.
package struct ExplanationResource: Codable, Sendable {
    package let item: Item
    package let isOwned: Bool
    /// A code, such as `expired`.
    package let cause: String
    /// The reason in one or two sentences.
    package let text: String
    /// The remedy.
    package var remedy: String?
    /// The time at which the cause took effect. Dates are RFC 3339, UTC.
    package var since: String?
    package var until: String?
    /// The transaction or the grant; the original transaction of an expected purchase.
    package var reference: String?
    package var origin: Origin?
    /// The owner of a purchase that the user's redemption was refused for.
    package var otherOwner: UserName?
}
