import Catalog
import Ledger
import Proofs

/// The part of the ledger that counts for a caller at a moment: of which origins, and of which app.
package final class Viewpoint: Sendable {
    /// The accepted origins, and the users they are valid for.
    let accepted: AcceptedOrigins
    /// The limit of the caller; nil for a caller of all apps.
    let limit: AppLimit?
    /// The items that everybody owns.
    let free: [Item]
    let moment: Timestamp
    /// Returns the type of a product, for transactions without a stated type.
    let type: @Sendable (String) -> ProductType?

    package init(
        accepting accepted: AcceptedOrigins,
        seeing limit: AppLimit? = nil,
        owningBesides free: [Item] = [],
        at moment: Timestamp,
        type: @escaping @Sendable (String) -> ProductType? = { _ in nil }
    ) {
        self.accepted = accepted
        self.limit = limit
        self.free = free
        self.moment = moment
        self.type = type
    }

    /// True if the caller sees what belongs to an app.
    func includes(app: String?) -> Bool { limit?.includes(app: app) ?? true }

    /// True if the caller sees the team's grants of an item.
    func sees(_ item: Item) -> Bool { limit?.sees(item) ?? true }
}

extension EntitlementService {
    /// The viewpoint of the caller now, about no user or about several.
    package var view: Viewpoint { view(at: clock.now()) }

    /// The viewpoint of the caller at a moment.
    func view(at moment: Timestamp) -> Viewpoint {
        let (catalogs, limit) = (catalogs, limit)
        return Viewpoint(
            accepting: accepted, seeing: limit, owningBesides: limit?.ownedByEverybody ?? catalogs.ownedByEverybody,
            at: moment
        ) { catalogs.type(of: $0) }
    }
}
