import Catalog
import Ledger
import Proofs
import Vocabulary

/// The part of the ledger that counts for a caller at a moment: of which origins, and of which app.
package final class Viewpoint: Sendable {
    /// The accepted origins, and the users they are valid for.
    package let accepted: AcceptedOrigins
    /// The limit of the caller; nil for a caller of all apps.
    package let limit: AppLimit?
    /// The items that everybody owns.
    package let free: [Item]
    package let moment: Timestamp
    /// Returns the type of a product, for transactions without a stated type.
    package let type: @Sendable (String) -> ProductType?

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
    package func includes(app: String?) -> Bool { limit?.includes(app: app) ?? true }

    package func sees(_ item: Item) -> Bool { limit?.sees(item) ?? true }
}

extension EntitlementService {
    /// The viewpoint of the caller now, about no user or about several.
    package var view: Viewpoint { view(at: clock.now()) }

    package func view(at moment: Timestamp) -> Viewpoint {
        let catalogs = catalogs
        let limit = catalogs.limit(to: limitingApp)
        return Viewpoint(
            accepting: accepted, seeing: limit, owningBesides: limit?.ownedByEverybody ?? catalogs.ownedByEverybody,
            at: moment
        ) { catalogs.type(of: $0) }
    }
}

/// The times of users. Beside a local App Store, a customer may have an own clock. What the service says about a user is then as of
/// the time of the account that bought the user's newest transaction. All other users have the service's time.
extension EntitlementService {
    package func now(of user: User) async throws -> Timestamp {
        guard customerClocks?.hasCustomers == true else { return clock.now() }
        return try await ledger.read(.statement) { try now(of: user, $0) }
    }

    /// The time of the customer who bought a transaction.
    package func now(ofBuyerOf transactionIdentifier: String) -> Timestamp {
        customerClocks?.time(ofBuyerOf: transactionIdentifier) ?? clock.now()
    }

    package func now(of user: User, _ transaction: LedgerTransaction) throws -> Timestamp {
        guard let customerClocks, customerClocks.hasCustomers else { return clock.now() }
        return try transaction.newestTransaction(of: user).flatMap(customerClocks.time(ofBuyerOf:)) ?? clock.now()
    }

    /// The viewpoint of the caller, as of a user's time.
    package func view(of user: User, _ transaction: LedgerTransaction) throws -> Viewpoint {
        view(at: try now(of: user, transaction))
    }

    package var customers: [CustomerTime] { customerClocks?.customers() ?? [] }
}

extension CustomerClocks {
    /// The groups of requests that have one time, in the order of the requests.
    package func groups(of requests: [ClaimRequest]) -> [(moment: Timestamp, requests: [ClaimRequest])] {
        let now = now()
        guard hasCustomers else { return [(now, requests)] }
        return requests.map { request in
            (request.claims.first.flatMap { time(ofBuyerOf: $0.transactionIdentifier) } ?? now, [request])
        }
    }
}

extension LedgerTransaction {
    /// The transaction that a user redeemed last; nil for a user without one.
    fileprivate func newestTransaction(of user: User) throws -> String? {
        guard let number = try users.known(user) else { return nil }
        return try database.value(
            SQLQuery(
                "SELECT transaction_id FROM redeemed_transaction WHERE user_id = $1 ORDER BY sequence DESC LIMIT 1",
                [number]))
    }
}
