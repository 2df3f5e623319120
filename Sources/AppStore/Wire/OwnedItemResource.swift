import Proofs

/// An item that a user owns, with its period and its source.
package struct OwnedItemResource: Codable, Sendable {
    package let collection: String
    package let number: Int
    /// `purchase`, `grant` (by the team) or `rule` (the catalog gives the item to everybody).
    package let source: String
    /// A purchase's state as in `UserSubscriptionResource`, or `owned` or `familyShared`. Other sources have `owned`.
    package let state: String
    /// The start of the user's uninterrupted ownership. Nil for a rule. Dates are RFC 3339, UTC.
    package let since: String?
    /// The end. Nil if the item has none.
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

    package var item: Item { Item(collection: collection, number: number) }

    init(
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
