import Commerce

/// An item that a user owns, since when, until when, and by what.
public struct OwnedItemResource: Codable, Sendable {
    public let collection: String
    public let number: Int
    /// `purchase`, `grant` (by the team) or `rule` (the catalog gives the item to everybody).
    public let source: String
    /// Of a purchase as `UserSubscriptionResource` has it, or `owned` or `familyShared`; `owned` for other sources.
    public let state: String
    /// The beginning of the time without a gap in which the user has owned the item; nil for a rule. Dates are RFC 3339, UTC.
    public let since: String?
    /// Nil for an item without an end.
    public let until: String?
    /// Nil if the App Store has not stated it.
    public let renews: Bool?
    /// The product, the transactions and the origin of a purchase.
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
