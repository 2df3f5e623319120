import Entitlements
import Ledger
import Proofs

/// The parts of a service: the use cases that routes, doors, pages and commands share. A feature that is off is nil.
///
/// A new feature is a line of `Parts`, a line where a service is wired, and a line where its routes are registered.
///
/// A class because of its width (`CompilerBugTests`).
@dynamicMemberLookup
package final class Till: Sendable {
    package struct Parts: Sendable {
        package let entitlements: EntitlementService
        /// The clock of the machine, by which limits, sessions and links go. `entitlements` goes by that of the selling store.
        package let clock: any WallClock
        /// The service's own accounts; nil if the team has its own.
        package var accounts: AccountService?
        /// The administered catalog; nil if only its files define it.
        package var administration: CatalogService?
        /// The sales figures; nil if the ledger keeps no sums.
        package var figures: FigureService?
        /// The copies of notifications for further servers.
        package var forwarding: NotificationForwarding?
        /// The profiles of users; nil if the team has its own.
        package var profiles: ProfileService?
        /// The profiles behind the routes of the seed's own app.
        package var seedApp: ProfileService?
        /// The actions at stores; without a key of a store, it asks none.
        package var storeActions: StoreActionService
        package var webhooks: WebhookService?
    }

    private let parts: Parts

    /// - Parameter wire: Adds the features that are on.
    package init(
        _ entitlements: EntitlementService, clock: any WallClock = SystemClock(),
        _ wire: (inout Parts) throws -> Void
    ) rethrows {
        var parts = Parts(
            entitlements: entitlements, clock: clock, storeActions: StoreActionService(entitlements))
        try wire(&parts)
        self.parts = parts
    }

    /// The parts without an optional feature.
    package convenience init(_ entitlements: EntitlementService, clock: any WallClock = SystemClock()) {
        self.init(entitlements, clock: clock) { _ in }
    }

    package subscript<Part>(dynamicMember part: KeyPath<Parts, Part>) -> Part { parts[keyPath: part] }

    package var ledger: Ledger { parts.entitlements.ledger }
}
