import Catalog
import Ledger
import Proofs

/// An item that a user owns at a moment, with its period and its source.
package struct OwnedItem: Hashable, Sendable {
    /// The source of an item.
    package indirect enum Source: Hashable, Sendable {
        /// A purchase. If several give the item, the one that ends last.
        case purchase(ItemPurchase)
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

    /// The purchase that gives the item; nil if none does.
    package var purchase: ItemPurchase? {
        if case .purchase(let purchase) = source { purchase } else { nil }
    }
}

extension EntitlementService {
    /// The items of a user, including those that everybody owns, in order.
    package func items(of user: User) async throws -> [OwnedItem] {
        try await ledger.read(.statement) { try $0.ownedItems(of: user, from: try view(of: user, $0)) }
    }

    /// The items of a user without their sources, except those that everybody owns, in order.
    package func ownItems(of user: User) async throws -> [Item] {
        try await ledger.read {
            try $0.items(of: user, accepting: accepted.origins(for: user), at: try now(of: user, $0))
        }
    }
}

extension LedgerTransaction {
    /// The items of a user at a moment, by redeemed transactions of some origins and by grants, each once, in order.
    package func items(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> [Item] {
        guard let number = try users.known(user) else { return [] }
        return try ReadingRecords(database: database).items(of: [number: origins], at: moment)[number] ?? []
    }

    /// The items of a user, with their periods and sources, each once, in order.
    package func ownedItems(of user: User, from view: Viewpoint) throws -> [OwnedItem] {
        OwnedItem.all(
            by: try coverage(of: user, from: view)?.coverage ?? [], owningBesides: view.free, at: view.moment,
            type: view.type)
    }
}
