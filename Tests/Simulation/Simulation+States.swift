import Commerce
import Entitlements
import Ledger
import Receipts
import Store

/// The comparison of the states of purchases with the store.
extension Simulation {
    func checkStates() throws {
        let api = AppStoreServerAPI(store: garden.store)
        let (now, catalog) = (garden.store.now, garden.catalog)
        // The comparison of items covers the refund of one period.
        let refunded = Set(try sales().filter { $0.revocation != nil }.map(\.originalTransactionIdentifier))
        let skipped = refunded.union(takenBack)
        for person in people {
            let (statuses, owned, items) = try ledger.readNow { transaction in
                (
                    try transaction.subscriptions(of: person.user, counting: Set(Origin.allCases), at: now) {
                        catalog.product($0)?.type == .autoRenewableSubscription
                    },
                    try transaction.ownedItems(
                        of: person.user, counting: Set(Origin.allCases), owningBesides: [], at: now
                    ) { catalog.product($0)?.type },
                    try transaction.items(of: person.user, at: now)
                )
            }
            guard owned.map(\.item) == items else {
                throw SimulationError.broken("\(person.user) owns \(items), and by other means \(owned.map(\.item))")
            }
            for status in statuses where !skipped.contains(status.originalTransactionIdentifier) {
                let answer = try api.allSubscriptionStatuses(status.originalTransactionIdentifier, statuses: [])
                let books = answer.data.flatMap(\.lastTransactions).first {
                    $0.originalTransactionId == status.originalTransactionIdentifier
                }
                guard let books, books.status != Self.status(of: status.state) else { continue }
                let kept = try ledger.readNow { try $0.transactions(of: person.user, before: nil, limit: 10_000) }
                    .filter { $0.originalTransactionIdentifier == status.originalTransactionIdentifier }
                    .map {
                        "\($0.transactionIdentifier) \($0.productIdentifier) \($0.purchaseDate.rfc3339) to "
                            + "\($0.expiresAt?.rfc3339 ?? "-") \($0.facts.bool(.isUpgraded) == true ? "upgraded" : "")"
                    }
                let sold = try sales().filter {
                    $0.originalTransactionIdentifier == status.originalTransactionIdentifier
                }.map {
                    "\($0.transactionIdentifier) \($0.productIdentifier) \($0.purchaseDate.rfc3339) "
                        + "\($0.isUpgraded ? "upgraded" : "")"
                }
                throw SimulationError.broken(
                    "\(status.originalTransactionIdentifier) of \(person.user) is \(status.state), "
                        + "and \(books.status) by the store's books, at \(now.rfc3339), until "
                        + "\(status.until?.rfc3339 ?? "-"): the ledger has \(kept), the books \(sold)")
            }
        }
    }

    private static func status(of state: PurchaseState) -> Status {
        switch state {
        case .gracePeriod: .billingGracePeriod
        case .billingRetry: .billingRetry
        case .revoked, .refunded: .revoked
        case .expired, .upgraded, .unclaimed: .expired
        case .trial, .introductory, .active, .willNotRenew, .owned, .consumed, .familyShared: .active
        }
    }
}
