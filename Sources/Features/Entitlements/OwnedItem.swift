import Proofs

/// An item that a user owns at a moment, with its period and its source.
public struct OwnedItem: Hashable, Sendable {
    /// The source of an item.
    public indirect enum Source: Hashable, Sendable {
        /// A purchase. If several give the item, the one that ends last.
        case purchase(RedeemedTransaction)
        /// A grant by the team.
        ///
        /// - identifier: The identifier of the grant.
        case grant(identifier: String)
        /// The catalog, which gives the item to everybody.
        case rule
    }

    public let item: Item
    public let source: Source
    public let state: PurchaseState
    /// The start of the current period of ownership without a gap; nil for an item that everybody owns.
    public let since: Timestamp?
    /// Nil for an item without an end.
    public let until: Timestamp?
    /// Nil if the App Store has not stated whether the subscription renews; false for an item that never renews.
    public let renews: Bool?

    package init(
        item: Item,
        source: Source,
        state: PurchaseState = .owned,
        since: Timestamp?,
        until: Timestamp? = nil,
        renews: Bool? = false
    ) {
        self.item = item
        self.source = source
        self.state = state
        self.since = since
        self.until = until
        self.renews = renews
    }

    /// The transaction that gives the item; nil if no purchase does.
    public var transaction: RedeemedTransaction? {
        if case .purchase(let transaction) = source { transaction } else { nil }
    }
}
