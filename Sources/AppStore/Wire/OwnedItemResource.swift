import Proofs

/// An item that a user owns, with its period and its source.
public struct OwnedItemResource: Codable, Sendable {
    public let collection: String
    public let number: Int
    /// `purchase`, `grant` (by the team) or `rule` (the catalog gives the item to everybody).
    public let source: String
    /// A purchase's state as in `UserSubscriptionResource`, or `owned` or `familyShared`. Other sources have `owned`.
    public let state: String
    /// The start of the user's uninterrupted ownership. Nil for a rule. Dates are RFC 3339, UTC.
    public let since: String?
    /// The end. Nil if the item has none.
    public let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    public let renews: Bool?
    /// The product of a purchase.
    public let productId: String?
    public let transactionId: String?
    public let originalTransactionId: String?
    public let origin: Origin?
    /// The identifier of a grant.
    public let grant: String?

    public var item: Item { Item(collection: collection, number: number) }

    public init(
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
