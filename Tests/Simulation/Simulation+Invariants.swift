import Catalog
import Commerce
import Entitlements
import Ledger
import Store
import TestSupport
import Webhooks

/// The invariants that hold after any fault.
extension Simulation {
    /// The owner of each redeemed transaction.
    func owners(in ledger: Ledger? = nil) throws -> [String: User] {
        let ledger = ledger ?? self.ledger
        var owners: [String: User] = [:]
        for person in people {
            for transaction in try ledger.readNow({ try $0.transactions(of: person.user, before: nil, limit: 10_000) })
            {
                guard owners.updateValue(person.user, forKey: transaction.transactionIdentifier) == nil else {
                    throw SimulationError.broken("\(transaction.transactionIdentifier) has two owners")
                }
            }
        }
        return owners
    }

    func sales() throws -> [Transaction] {
        try people.flatMap { try garden.store.history(of: $0.account) }
    }

    /// Checks, after each step, that the ledger has each acknowledged and each finished transaction.
    func check() throws {
        let owners = try owners()
        for (transaction, user) in acknowledged where owners[transaction] != user {
            // A purchase belongs to the user of its account token, even if the service acknowledged it to another before.
            let sales = try sales()
            let original = sales.first { $0.transactionIdentifier == transaction }?.originalTransactionIdentifier
            let tokens = sales.filter { $0.originalTransactionIdentifier == original }.compactMap(\.appAccountToken)
            guard let owner = owners[transaction],
                people.contains(where: { $0.user == owner && tokens.contains($0.token) })
                    || mayHaveMoved(original, to: owner)
            else {
                throw SimulationError.broken("\(transaction) was acknowledged to \(user), and is not theirs")
            }
        }
        for queued in try garden.store.transactions() where queued.transaction.state == .finished {
            guard let purchase = queued.transaction.purchase else { continue }
            guard owners[purchase.transactionIdentifier] != nil else {
                throw SimulationError.broken("\(purchase.transactionIdentifier) was finished, and is nobody's")
            }
        }
    }

    /// True if a purchase acknowledged to another user may have moved to this user, who must have presented it.
    private func mayHaveMoved(_ original: String?, to user: User) -> Bool {
        policy != .keep && original.flatMap { presenters[$0]?.contains(user) } ?? false
    }

    /// To which everything is told.
    static let webhook = "simulation"

    /// Of what has changed what somebody owns there is one message, and there is none of anything else.
    private func checkWebhooks() throws {
        let deliveries = try ledger.readNow {
            try $0.webhookDeliveries(to: Self.webhook, in: nil, before: nil, limit: 100_000)
        }
        let told = deliveries.map { "\($0.name) \($0.number)" }
        var written: [String] = []
        for person in people {
            for record in try ledger.readNow({ try $0.audit(of: person.user) }) {
                switch record.entry.event {
                case .granted, .revoked, .transferredIn, .transferredOut, .itemGiven, .itemTakenBack,
                    .expired, .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .autoRenewEnabled:
                    written.append("\(person.user) \(record.number)")
                case .assigned, .credited, .refused, .spent, .erased: break
                }
            }
        }
        guard told.sorted() == written.sorted() else {
            let (missing, more) = (Set(written).subtracting(told), Set(told).subtracting(written))
            throw SimulationError.broken("not told of: \(missing.sorted()), told without need: \(more.sorted())")
        }
    }

    /// Checks the final state: each purchase has an owner, and each user owns the purchases that the store reports.
    func checkEnd() throws {
        let problems = try place.problems()
        guard problems.isEmpty else { throw SimulationError.broken(problems.joined(separator: " ")) }
        for queued in try garden.store.transactions() where queued.transaction.state.isAwaitingFinish {
            let purchase = queued.transaction.purchase
            let named = people.first { $0.token == queued.transaction.payment.appAccountToken }?.user.name ?? "nobody"
            let owner = try owners()[purchase?.transactionIdentifier ?? ""]?.name ?? "nobody"
            throw SimulationError.broken(
                "\(queued.transaction.identifier) waits in the queue under \(policy): it is \(owner)'s, bought for \(named), "
                    + "\(queued.transaction)")
        }
        try checkWebhooks()
        let (owners, sales) = (try owners(), try sales())
        for sale in sales {
            guard let owner = owners[sale.transactionIdentifier] else {
                throw SimulationError.broken("\(sale.transactionIdentifier) was bought, and is nobody's")
            }
            let same = sales.filter { $0.originalTransactionIdentifier == sale.originalTransactionIdentifier }
            let decides = same.filter { $0.appAccountToken != nil }.max {
                ($0.purchaseDate, $0.transactionIdentifier) < ($1.purchaseDate, $1.transactionIdentifier)
            }
            // A spent consumable stays with its owner.
            guard
                decides == nil || sale.type == .consumable
                    || people.first(where: { $0.user == owner })?.token == decides?.appAccountToken
            else {
                let books = same.map { other in
                    let named = people.first { $0.token == other.appAccountToken }?.user.name ?? "nobody"
                    let owner = owners[other.transactionIdentifier]?.name ?? "nobody"
                    return
                        "\(other.transactionIdentifier) bought \(other.purchaseDate.rfc3339) for \(named), is \(owner)'s"
                }
                throw SimulationError.broken(
                    "\(sale.transactionIdentifier) is not whose token it names: \(books)")
            }
            guard same.allSatisfy({ owners[$0.transactionIdentifier] == owner }) else {
                throw SimulationError.broken("\(sale.transactionIdentifier) and its original have two owners")
            }
        }
        for person in people {
            let own = sales.filter { owners[$0.transactionIdentifier] == person.user }
            for days: Int64 in [0, 5, 20, 45, 200, 400] {
                let moment = garden.store.now.adding(days: days)
                let (met, expected) = (
                    try ledger.readNow { try $0.items(of: person.user, at: moment) },
                    try items(of: person, by: own, at: moment)
                )
                guard met == expected else {
                    let books = own.map {
                        "\($0.transactionIdentifier) of \($0.originalTransactionIdentifier) \($0.productIdentifier) "
                            + "\($0.purchaseDate.rfc3339) to \($0.expiresDate?.rfc3339 ?? "-") "
                            + ($0.revocation == nil ? "" : "revoked")
                    }
                    let kept = try ledger.readNow { try $0.transactions(of: person.user, before: nil, limit: 10_000) }
                        .map {
                            "\($0.transactionIdentifier) to \($0.expiresAt?.rfc3339 ?? "-") "
                                + "\($0.revocationDate?.rfc3339 ?? "") \($0.revocation?.reason ?? "")"
                        }
                    throw SimulationError.broken(
                        "\(person.user) owns \(met) at \(moment.rfc3339), and should own \(expected): "
                            + "the store has \(books), the ledger \(kept)")
                }
            }
            let balance =
                try ledger.readNow { try $0.balances(of: person.user, counting: Set(Origin.allCases)) }.first?.amount
                ?? 0
            let expected = balanceOf(person, by: own)
            guard balance == expected else {
                throw SimulationError.broken("\(person.user) has \(balance) seeds, and should have \(expected)")
            }
        }
    }

    private func counts(_ sale: Transaction) -> Bool {
        sale.revocation == nil && !takenBack.contains(sale.originalTransactionIdentifier)
    }

    /// By the store's own books.
    private func items(of person: Person, by sales: [Transaction], at moment: Timestamp) throws -> [Item] {
        let graceEnds = try graceEnds()
        var items = Set(given[person.user.name] ?? [])
        for sale in sales where counts(sale) {
            switch garden.catalog.benefit(of: sale.productIdentifier) {
            case .item(let item): items.insert(item)
            case .itemFor(let item, let period):
                let end = sale.purchaseDate.adding(period, dayOfMonth: sale.purchaseDate.dayOfMonth)
                if moment < end { items.insert(item) }
            case .itemWhilePaid(let item):
                let isReplaced = sales.contains {
                    $0.originalTransactionIdentifier == sale.originalTransactionIdentifier
                        && $0.purchaseDate > sale.purchaseDate
                }
                let ends = [sale.expiresDate, graceEnds[sale.transactionIdentifier]].compactMap(\.self)
                if let end = ends.max(), moment < end, !isReplaced, !sale.isUpgraded { items.insert(item) }
            case .credit, nil: break
            }
        }
        return items.sorted()
    }

    private func balanceOf(_ person: Person, by sales: [Transaction]) -> Int {
        let bought = sales.filter(counts).reduce(0) { sum, sale in
            guard case .credit(let credit) = garden.catalog.benefit(of: sale.productIdentifier) else { return sum }
            return sum + credit.amount * sale.quantity
        }
        return max(0, bought - (spent[person.user.name] ?? 0))
    }
}
