import Proofs

/// An item that a user owns at a moment, with its period and its source.
package struct OwnedItem: Hashable, Sendable {
    /// The source of an item.
    package indirect enum Source: Hashable, Sendable {
        /// A purchase. If several give the item, the one that ends last.
        case purchase(RedeemedTransaction)
        /// A grant by the team.
        ///
        /// - identifier: The identifier of the grant.
        case grant(identifier: String)
        /// The catalog, which gives the item to everybody.
        case rule
    }

    package let item: Item
    package let source: Source
    package let state: PurchaseState
    /// The start of the current period of ownership without a gap; nil for an item that everybody owns.
    package let since: Timestamp?
    /// Nil for an item without an end.
    package let until: Timestamp?
    /// Nil if the App Store has not stated whether the subscription renews; false for an item that never renews.
    package let renews: Bool?

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
    package var transaction: RedeemedTransaction? {
        if case .purchase(let transaction) = source { transaction } else { nil }
    }
}
