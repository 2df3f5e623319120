import Proofs

/// A right that a user has, with its period and the item that gives it.
package struct UserRightResource: Codable, Sendable {
    package let name: String
    /// The collection of the item that gives the right.
    package let collection: String
    package let number: Int
    /// `purchase`, `grant` (by the team) or `rule` (the catalog gives the item to everybody).
    package let source: String
    /// A purchase's state as in `UserSubscriptionResource`, or `owned` or `familyShared`. Other sources have `owned`.
    package let state: String
    /// The start of the uninterrupted right. Nil for a rule. Dates are RFC 3339, UTC.
    package let since: String?
    /// The end. Nil if the right has none.
    package let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    package let renews: Bool?
    /// The product of a purchase.
    package let productId: String?
    package let transactionId: String?
    package let originalTransactionId: String?
    package let origin: Origin?
    /// The identifier of a grant.
    package let grant: String?

    init(
        name: String,
        item: Item,
        source: String,
        state: String,
        since: String? = nil,
        until: String? = nil,
        renews: Bool? = nil,
        productId: String? = nil,
        transactionId: String? = nil,
        originalTransactionId: String? = nil,
        origin: Origin? = nil,
        grant: String? = nil
    ) {
        self.name = name
        collection = item.collection
        number = item.number
        self.source = source
        self.state = state
        self.since = since
        self.until = until
        self.renews = renews
        self.productId = productId
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.grant = grant
    }
}
