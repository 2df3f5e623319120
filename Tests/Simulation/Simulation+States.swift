import AppStore
import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The states of purchases in a ledger, compared with the store's books.
extension Simulation {
    /// - Parameters:
    ///   - name: Names the ledger in the error.
    ///   - takenBack: The purchases that the team has taken back there, by their original transactions.
    func checkStates(
        in ledger: Ledger,
        of service: EntitlementService,
        named name: String,
        takenBack: Set<TransactionKey>
    ) async throws {
        let (now, sales) = (now, try sales())
        let catalogs = processes[0].service.catalogs
        for person in people {
            let (statuses, owned, items) = try ledger.readNow { transaction in
                let view = Viewpoint(accepting: AcceptedOrigins(.ofEveryStore), at: now) {
                    catalogs.type(of: $0)
                }
                return (
                    try transaction.subscriptions(of: person.user, from: view),
                    try transaction.ownedItems(of: person.user, from: view),
                    try transaction.items(of: person.user, at: now)
                )
            }
            guard owned.map(\.item) == items else {
                throw SimulationError.broken(
                    "\(name): \(person.user) owns \(items), and by other means \(owned.map(\.item))")
            }
            for item in owned { try checkRenewal(of: item, sales, named: "\(name): \(person.user)") }
            // A status does not name its app, and subscriptions of two apps may have the same identifier.
            let told = Dictionary(
                grouping: statuses.filter { $0.origin.store == .appStore }, by: \.originalTransactionIdentifier)
            let booked = Dictionary(
                grouping: try subscriptions(of: person, sales, in: ledger), by: \.originalTransactionIdentifier)
            for original in Set(told.keys).union(booked.keys) {
                let states = (told[original] ?? []).map { "\(Self.status(of: $0.state))" }
                let expected = try (booked[original] ?? []).map {
                    "\(takenBack.contains($0.originalKey) ? .revoked : try bookedStatus(of: $0))"
                }
                guard states.sorted() != expected.sorted() else { continue }
                throw SimulationError.broken(
                    "\(name): \(original) of \(person.user) is \(told[original] ?? []), and \(expected) by the stores' "
                        + "books, at \(now.rfc3339): " + (try described(original, of: person, sales, ledger)))
            }
        }
        let owners = try owners(in: ledger)
        let seasonEnds = Dictionary(grouping: sales, by: { owners[$0.key] }).values.reduce(into: [:]) { ends, sales in
            ends.merge(Self.seasonEnds(sales, takenBack: takenBack)) { $1 }
        }
        for sale in sales where sale.type != .autoRenewableSubscription {
            let expected = bookedState(of: sale, takenBack: takenBack, seasonEnds, at: now)
            let purchases = try await service.purchases(ofTransaction: sale.transactionIdentifier)
                .filter { $0.app == sale.app.bundleIdentifier }
            guard purchases.map(\.status.state) == [expected] else {
                throw SimulationError.broken(
                    "\(name): \(sale) is \(purchases.map(\.status.state)), and \(expected) by the store's books")
            }
        }
    }

    /// The last period of each subscription of which a person has a transaction in a ledger.
    private func subscriptions(
        of person: Person,
        _ sales: [SimulatedSale],
        in ledger: Ledger
    ) throws -> [SimulatedSale] {
        let owners = try owners(in: ledger)
        let periods = sales.filter { $0.type == .autoRenewableSubscription }
        let owned = Set(periods.filter { owners[$0.key] == person.user }.map(\.originalKey))
        let last = Dictionary(periods.map { ($0.originalKey, $0) }) { $1 }
        return owned.compactMap { last[$0] }
    }

    /// The item of a subscription renews as the store of its app states.
    private func checkRenewal(of item: OwnedItem, _ sales: [SimulatedSale], named name: String) throws {
        guard let purchase = item.purchase else { return }
        // An item does not name the app of its transaction.
        let sale = sales.first {
            $0.transactionIdentifier == purchase.transactionIdentifier
                && $0.productIdentifier == purchase.productIdentifier
                && $0.purchaseDate == purchase.period.purchaseDate
        }
        guard let sale, sale.type == .autoRenewableSubscription, sale.ownership == .purchased else { return }
        let renews = try sale.app.garden.renewalInfo(try books(of: sale).signedRenewalInfo).facts.bool(.autoRenewStatus)
        guard item.renews == (renews == true) else {
            throw SimulationError.broken("\(name)'s \(item) renews otherwise by the store's books: \(sales)")
        }
    }

    /// The status of a subscription. One whose last period was refunded is revoked, also where it had ended before.
    private func bookedStatus(of last: SimulatedSale) throws -> Status {
        guard last.revocation == nil else { return .revoked }
        return try books(of: last).status
    }

    /// The last transaction of a subscription, as the App Store Server API answers.
    private func books(of sale: SimulatedSale) throws -> StatusResponse.LastTransactionsItem {
        let original = sale.originalTransactionIdentifier
        let answer = try sale.app.store.readOrThrow { try $0.allSubscriptionStatuses(original, statuses: []) }
        let books = answer.data.flatMap(\.lastTransactions).first { $0.originalTransactionId == original }
        guard let books else { throw SimulationError.broken("the store does not know \(original)") }
        return books
    }

    private func bookedState(
        of sale: SimulatedSale, takenBack: Set<TransactionKey>, _ seasonEnds: [TransactionKey: Timestamp],
        at now: Timestamp
    ) -> PurchaseState {
        if takenBack.contains(sale.originalKey) { return .revoked }
        if sale.revocation != nil { return sale.ownership == .familyShared ? .revoked : .refunded }
        if sale.type == .consumable { return .consumed }
        if let end = seasonEnds[sale.key], end <= now { return .expired }
        return sale.ownership == .familyShared ? .familyShared : .owned
    }

    private func described(
        _ original: String,
        of person: Person,
        _ sales: [SimulatedSale],
        _ ledger: Ledger
    ) throws -> String {
        let kept = try ledger.readNow { try $0.transactions(of: person.user, before: nil, limit: 10_000) }
            .filter { $0.originalTransactionIdentifier == original }
            .map {
                "\($0.transactionIdentifier) in \($0.app ?? "-") \($0.productIdentifier) \($0.purchaseDate.rfc3339) to "
                    + "\($0.expiresAt?.rfc3339 ?? "-") \($0.facts.bool(.isUpgraded) == true ? "upgraded" : "") "
                    + ($0.revocationDate == nil ? "" : "revoked")
            }
        let sold = sales.filter { $0.originalTransactionIdentifier == original }
        return "the ledger has \(kept), the books \(sold)"
    }

    private static func status(of state: PurchaseState) -> Status {
        switch state {
        case .gracePeriod: .billingGracePeriod
        case .billingRetry: .billingRetry
        case .revoked, .refunded: .revoked
        case .expired, .paused, .upgraded, .unclaimed: .expired
        case .trial, .introductory, .active, .willNotRenew, .owned, .consumed, .familyShared: .active
        }
    }
}
