import Catalog
import Ledger
import Proofs
import Vocabulary

/// An item that a user owns at a moment, with its period and its source.
package struct OwnedItem: Hashable, Sendable {
    package indirect enum Source: Hashable, Sendable {
        /// A purchase. If several give the item, the one that ends last.
        case purchase(ItemPurchase)
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

/// A right that a user has, or had until it ended.
package struct UserRight: Hashable, Sendable {
    package let name: String
    /// True if the user has the right at the moment.
    package let isActive: Bool
    /// The item that gives the right, by the source that ends last. Its period is that of the right.
    package let item: OwnedItem
}

/// The rules of rights and their sources.
extension UserRight {
    /// The rights that a user has or had, in the order of their definitions.
    ///
    /// A right that the App Store or the team has revoked completely is left out, as if the user had never had it.
    ///
    /// - Parameters:
    ///   - rights: The defined rights.
    ///   - coverage: All coverage that is not revoked.
    ///   - free: The items that everybody owns.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package static func all(
        of rights: [RightSources],
        by coverage: [ItemCoverage],
        owningBesides free: [Item],
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) -> [UserRight] {
        rights.compactMap { right in
            let giving = ItemCoverage.inEffect(coverage.filter { right.isGiven(by: $0) }[...], at: moment)
            let running = ItemCoverage.last(of: giving.lazy.filter { $0.isRunning(at: moment) })
            if running?.endsAt != nil || running == nil, let item = free.first(where: right.items.contains) {
                return UserRight(
                    name: right.name, isActive: true, item: OwnedItem(item: item, source: .rule, since: nil))
            }
            guard let last = running ?? ItemCoverage.last(of: giving) else { return nil }
            let item = OwnedItem(last, since: last.beginning(after: giving), at: moment, type: type)
            return UserRight(
                name: right.name, isActive: running != nil, item: running == nil ? item.ended : item)
        }
    }
}

extension RightSources {
    fileprivate func isGiven(by coverage: ItemCoverage) -> Bool {
        if items.contains(coverage.item) { return true }
        guard case .purchase(let purchase) = coverage.source else { return false }
        return products.contains(ByteKey(purchase.productIdentifier))
    }
}

extension OwnedItem {
    /// The item after its end. Another product of a subscription may have ended it before the end of its own period.
    fileprivate var ended: OwnedItem {
        guard state.isOwned else { return self }
        return OwnedItem(item: item, source: source, state: .expired, since: since, until: until)
    }
}

extension EntitlementService {
    /// The rights that a user has or had, in the order of the catalogs.
    ///
    /// - Parameter app: The bundle identifier of the app whose rights are read; nil for all apps.
    package func rights(of user: User, in app: String? = nil) async throws -> [UserRight] {
        let rights = catalogs.rights(in: limitingApp ?? app)
        guard !rights.isEmpty else { return [] }
        return try await ledger.read(.statement) { try $0.rights(rights, of: user, from: try view(of: user, $0)) }
    }
}

extension LedgerTransaction {
    /// The rights that a user has or had, in the order of their definitions.
    package func rights(_ rights: [RightSources], of user: User, from view: Viewpoint) throws -> [UserRight] {
        UserRight.all(
            of: rights, by: try coverage(of: user, from: view)?.coverage ?? [], owningBesides: view.free,
            at: view.moment,
            type: view.type)
    }
}
