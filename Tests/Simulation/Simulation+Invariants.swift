import Catalog
import Commerce
import Entitlements
import Foundation
import Ledger
import Store
import TestSupport
import Webhooks

/// The invariants, which hold in spite of all faults.
extension Simulation {
    /// The owners of redeemed transactions, by transaction identifier.
    private func owners() throws -> [String: User] {
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

    /// Checks after each step that all acknowledged transactions are in the ledger, and all finished ones, too.
    func check() throws {
        let owners = try owners()
        for (transaction, user) in acknowledged where owners[transaction] != user {
            // The account token of a purchase determines its owner, even if another user had it acknowledged before.
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

    /// Returns true if an acknowledged purchase may have moved to a user, who must have presented it.
    private func mayHaveMoved(_ original: String?, to user: User) -> Bool {
        policy != .keep && original.flatMap { presenters[$0]?.contains(user) } ?? false
    }

    /// The identifier of the webhook that receives all events.
    static let webhook = "simulation"

    /// Checks that each change of a user's items has one message, and that there are no other messages.
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

    /// Checks at the end that each purchase has an owner, and that each user owns the items of their purchases in the store.
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
            // A consumable stays with its first user, who may have spent it.
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
                    items(of: person, by: own, at: moment)
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

    /// The items that a person owns according to the store.
    private func items(of person: Person, by sales: [Transaction], at moment: Timestamp) -> [Item] {
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
                if let end = sale.expiresDate, moment < end, !isReplaced, !sale.isUpgraded { items.insert(item) }
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

    /// Checks that the same posts and notifications, in two other orders and with duplicates, lead to the same state.
    func checkOrder() async throws {
        // If two users present a purchase without a token, the order determines its owner.
        guard !sharesDevices else { return }
        let notifications = try garden.store.notifications().map { Array($0.signedPayload.utf8) }
        let messages = posts.map { Message.post($0.proof, $0.user) } + notifications.map(Message.notification)
        var states: [[[String]]] = []
        for number in 0..<2 {
            let place = try SimulatedLedger.make(in: garden.folder, named: "order \(number)")
            let ledger = try place.open(randomness: dice.randomness)
            let service = EntitlementService(
                apps: Apps(App(garden.catalog)), verifier: verifier, ledger: ledger, clock: garden.store.clock,
                policy: policy)
            for person in people { _ = try await service.setAppAccountToken(person.token, of: person.user) }
            for message in dice.shuffle(messages + messages.filter { _ in dice.happens(30) }) {
                switch message {
                case .post(let proof, let user): _ = try? await service.redeem(proof, for: user)
                case .notification(let payload): _ = try await service.receive(notification: payload)
                }
            }
            let problems = try place.problems()
            guard problems.isEmpty else { throw SimulationError.broken(problems.joined(separator: " ")) }
            var state: [[String]] = []
            for person in people {
                let transactions = try ledger.readNow {
                    try $0.transactions(of: person.user, before: nil, limit: 10_000)
                }.map {
                    [
                        $0.transactionIdentifier, "\($0.revocationDate?.rfc3339 ?? "-")",
                        "\($0.expiresAt?.rfc3339 ?? "-")",
                    ].joined(separator: " ")
                }
                let items = try [Int64](arrayLiteral: 0, 5, 20, 45, 200, 400).map { days in
                    let moment = garden.store.now.adding(days: days)
                    return try ledger.readNow { try $0.items(of: person.user, at: moment).description }
                }
                state.append(
                    transactions.sorted() + items + [try await service.balances(of: person.user).description])
            }
            states.append(state)
        }
        guard states[0] == states[1] else {
            throw SimulationError.broken("two orders end differently: \(states[0]) and \(states[1])")
        }
    }
}

private enum Message {
    case post([UInt8], User)
    case notification([UInt8])
}
