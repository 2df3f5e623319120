import AppStore
import Catalog
import Entitlements
import Ledger
import Proofs
import TestSupport
import Vocabulary

/// The invariants that hold after any fault.
extension Simulation {
    /// The owners of the redeemed transactions.
    func owners(in ledger: Ledger? = nil) throws -> [TransactionKey: User] {
        let ledger = ledger ?? self.ledger
        var owners: [TransactionKey: User] = [:]
        for person in people {
            for transaction in try ledger.readNow({ try $0.transactions(of: person.user, before: nil, limit: 10_000) })
            {
                let key = TransactionKey(
                    app: transaction.app ?? "", origin: transaction.origin,
                    identifier: transaction.transactionIdentifier)
                guard owners.updateValue(person.user, forKey: key) == nil else {
                    throw SimulationError.broken("\(key.name) has two owners")
                }
            }
        }
        return owners
    }

    /// After every step: what was acknowledged is there, and nothing was finished that is not.
    func check() throws {
        let owners = try owners()
        for (transaction, user) in acknowledged where owners[transaction] != user {
            // The owner is the user whose account token the purchase names, even if it was acknowledged to another before.
            let sales = try sales()
            let original = sales.first { $0.key == transaction }?.originalKey
            let tokens = sales.filter { $0.originalKey == original }.compactMap(\.appAccountToken)
            guard let owner = owners[transaction],
                people.contains(where: { $0.user == owner && tokens.contains($0.token) })
                    || mayHaveMoved(original, to: owner)
            else {
                throw SimulationError.broken("\(transaction.name) was acknowledged to \(user), and is not theirs")
            }
        }
        for app in apps {
            for queued in try app.store.transactions() where queued.transaction.state == .finished {
                guard let purchase = queued.transaction.purchase else { continue }
                let key = app.key(purchase.transactionIdentifier)
                guard owners[key] != nil else {
                    throw SimulationError.broken("\(key.name) was finished, and is nobody's")
                }
            }
        }
    }

    /// True if a user may have been given what another had acknowledged, because they presented it.
    private func mayHaveMoved(_ original: TransactionKey?, to user: User) -> Bool {
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
                guard !record.entry.event.rule.messages.isEmpty else { continue }
                written.append("\(person.user) \(record.number)")
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
        try checkQueues()
        try checkWebhooks()
        let (owners, sales) = (try owners(), try sales())
        for sale in sales { try check(sale, among: sales, owners) }
        let graceEnds = try graceEnds()
        for person in people {
            try checkItems(of: person, by: sales.filter { owners[$0.key] == person.user }, graceEnds)
        }
    }

    private func checkQueues() throws {
        for app in apps {
            for queued in try app.store.transactions() where queued.transaction.state.isAwaitingFinish {
                let purchase = queued.transaction.purchase
                let named =
                    people.first { $0.token == queued.transaction.payment.appAccountToken }?.user.name ?? "nobody"
                let owner = try owners()[app.key(purchase?.transactionIdentifier ?? "")]?.name ?? "nobody"
                throw SimulationError.broken(
                    "\(queued.transaction.identifier) waits in the queue of \(app.bundleIdentifier) under \(policy): it "
                        + "is \(owner)'s, bought for \(named), \(queued.transaction)")
            }
        }
    }

    private func check(
        _ sale: SimulatedSale,
        among sales: [SimulatedSale],
        _ owners: [TransactionKey: User]
    ) throws {
        guard let owner = owners[sale.key] else {
            throw SimulationError.broken("\(sale.key.name) was bought, and is nobody's")
        }
        let same = sales.filter { $0.originalKey == sale.originalKey }
        let decides = same.filter { $0.appAccountToken != nil }.max {
            ($0.purchaseDate, $0.transactionIdentifier) < ($1.purchaseDate, $1.transactionIdentifier)
        }
        // What is spent stays where it was spent.
        guard
            decides == nil || sale.type == .consumable
                || people.first(where: { $0.user == owner })?.token == decides?.appAccountToken
        else {
            let books = same.map { other in
                let named = people.first { $0.token == other.appAccountToken }?.user.name ?? "nobody"
                return "\(other) for \(named), is \(owners[other.key]?.name ?? "nobody")'s"
            }
            throw SimulationError.broken("\(sale.key.name) is not whose token it names: \(books)")
        }
        guard same.allSatisfy({ owners[$0.key] == owner }) else {
            throw SimulationError.broken("\(sale.key.name) and its original have two owners")
        }
    }
}
