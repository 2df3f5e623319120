import Catalog
import Commerce
import Entitlements
import Ledger
import Receipts
import Store

/// The states of purchases in a ledger, compared with the store's books.
extension Simulation {
    /// - Parameters:
    ///   - name: Names the ledger in the error.
    ///   - takenBack: The purchases that the team has taken back there, by their original transactions.
    func checkStates(
        in ledger: Ledger,
        of service: EntitlementService,
        named name: String,
        takenBack: Set<String>
    ) async throws {
        let (now, sales) = (garden.store.now, try sales())
        for person in people {
            let (statuses, owned, items) = try ledger.readNow { [catalog = garden.catalog] transaction in
                let type: (String) -> ProductType? = { catalog.product($0)?.type }
                let origins = Set(Origin.allCases)
                return (
                    try transaction.subscriptions(of: person.user, counting: origins, at: now) {
                        type($0) == .autoRenewableSubscription
                    },
                    try transaction.ownedItems(
                        of: person.user, counting: origins, owningBesides: [], at: now, type: type),
                    try transaction.items(of: person.user, at: now)
                )
            }
            guard owned.map(\.item) == items else {
                throw SimulationError.broken(
                    "\(name): \(person.user) owns \(items), and by other means \(owned.map(\.item))")
            }
            for status in statuses {
                let original = status.originalTransactionIdentifier
                let expected = takenBack.contains(original) ? .revoked : try bookedStatus(of: original, sales)
                guard Self.status(of: status.state) != expected else { continue }
                throw SimulationError.broken(
                    "\(name): \(original) of \(person.user) is \(status.state), and \(expected) by the store's books, at "
                        + "\(now.rfc3339), until \(status.until?.rfc3339 ?? "-"): "
                        + (try described(original, of: person, sales, ledger)))
            }
        }
        for sale in sales where sale.type != .autoRenewableSubscription {
            let expected = bookedState(of: sale, takenBack: takenBack, at: now)
            for purchase in try await service.purchases(ofTransaction: sale.transactionIdentifier)
            where purchase.status.state != expected {
                throw SimulationError.broken(
                    "\(name): \(sale.transactionIdentifier) of \(sale.productIdentifier) is \(purchase.status.state), and "
                        + "\(expected) by the store's books")
            }
        }
    }

    /// The status of a subscription. One whose last period was refunded is revoked, also where it had ended before.
    private func bookedStatus(of original: String, _ sales: [Transaction]) throws -> Status {
        let last = sales.last { $0.originalTransactionIdentifier == original }
        guard last?.revocation == nil else { return .revoked }
        let answer = try AppStoreServerAPI(store: garden.store).allSubscriptionStatuses(original, statuses: [])
        let books = answer.data.flatMap(\.lastTransactions).first { $0.originalTransactionId == original }
        guard let books else { throw SimulationError.broken("the store does not know \(original)") }
        return books.status
    }

    private func bookedState(of sale: Transaction, takenBack: Set<String>, at now: Timestamp) -> PurchaseState {
        if takenBack.contains(sale.originalTransactionIdentifier) { return .revoked }
        if sale.revocation != nil { return sale.ownership == .familyShared ? .revoked : .refunded }
        if sale.type == .consumable { return .consumed }
        if case .itemFor(_, let period) = garden.catalog.benefit(of: sale.productIdentifier),
            sale.purchaseDate.adding(period, dayOfMonth: sale.purchaseDate.dayOfMonth) <= now
        {
            return .expired
        }
        return sale.ownership == .familyShared ? .familyShared : .owned
    }

    private func described(
        _ original: String,
        of person: Person,
        _ sales: [Transaction],
        _ ledger: Ledger
    ) throws -> String {
        let kept = try ledger.readNow { try $0.transactions(of: person.user, before: nil, limit: 10_000) }
            .filter { $0.originalTransactionIdentifier == original }
            .map {
                "\($0.transactionIdentifier) \($0.productIdentifier) \($0.purchaseDate.rfc3339) to "
                    + "\($0.expiresAt?.rfc3339 ?? "-") \($0.facts.bool(.isUpgraded) == true ? "upgraded" : "") "
                    + ($0.revocationDate == nil ? "" : "revoked")
            }
        let sold = sales.filter { $0.originalTransactionIdentifier == original }.map {
            "\($0.transactionIdentifier) \($0.productIdentifier) \($0.purchaseDate.rfc3339) "
                + "\($0.isUpgraded ? "upgraded" : "") \($0.revocation == nil ? "" : "revoked")"
        }
        return "the ledger has \(kept), the books \(sold)"
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
