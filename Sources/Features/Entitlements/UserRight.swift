import Catalog
import Ledger
import Proofs

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
            let giving = ItemCoverage.inEffect(coverage.filter { right.isGiven(by: $0) }, at: moment)
            let running = ItemCoverage.last(of: giving.filter { $0.isRunning(at: moment) })
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
