import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The items and balances of people, compared with the stores' books.
extension Simulation {
    /// - Parameters:
    ///   - sales: What the person owns, of all apps.
    ///   - graceEnds: The ends of grace periods, by the transactions before them.
    func checkItems(
        of person: Person,
        by sales: [SimulatedSale],
        _ graceEnds: [TransactionKey: Timestamp]
    ) throws {
        for days: Int64 in [0, 5, 20, 45, 200, 400] {
            let moment = now.adding(days: days)
            let met = try ledger.readNow { try $0.items(of: person.user, at: moment) }
            let expected = try items(of: person, by: sales, graceEnds, at: moment)
            guard met == expected else {
                let kept = try ledger.readNow { try $0.transactions(of: person.user, before: nil, limit: 10_000) }
                    .map {
                        "\($0.transactionIdentifier) in \($0.app ?? "-") to \($0.expiresAt?.rfc3339 ?? "-") "
                            + "\($0.revocationDate?.rfc3339 ?? "") \($0.revocation?.reason ?? "")"
                    }
                let atPlay = try subscriptionsAtPlay()
                throw SimulationError.broken(
                    "\(person.user) owns \(met) at \(moment.rfc3339), and should own \(expected): "
                        + "the stores have \(sales) \(atPlay), the ledger \(kept)")
            }
        }
        let balances = try ledger.readNow { try $0.balances(of: person.user, accepting: .ofEveryStore) }
        let (balance, expected) = (balances.first?.amount ?? 0, try balanceOf(person, by: sales))
        guard balance == expected else {
            throw SimulationError.broken("\(person.user) has \(balance) seeds, and should have \(expected)")
        }
    }

    private func counts(_ sale: SimulatedSale) -> Bool {
        sale.revocation == nil && !takenBack.contains(sale.originalKey)
    }

    /// The items by the stores' own books.
    private func items(
        of person: Person,
        by sales: [SimulatedSale],
        _ graceEnds: [TransactionKey: Timestamp],
        at moment: Timestamp
    ) throws -> [Item] {
        let elsewhere =
            try itemsFromPlay(of: person) + itemsOfSubscriptions(of: person, at: moment)
            + itemsFromAcme(of: person, at: moment)
        var items = Set((given[person.user.name] ?? []) + elsewhere)
        let seasonEnds = Self.seasonEnds(sales, takenBack: takenBack)
        for sale in sales where counts(sale) {
            switch sale.benefit {
            case .item(let item): items.insert(item)
            case .itemFor(let item, _):
                if let end = seasonEnds[sale.key], moment < end { items.insert(item) }
            case .itemWhilePaid(let item):
                let isReplaced = sales.contains {
                    $0.originalKey == sale.originalKey && $0.purchaseDate > sale.purchaseDate
                }
                let ends = [sale.expiresDate, graceEnds[sale.key]].compactMap(\.self)
                if let end = ends.max(), moment < end, !isReplaced, !sale.isUpgraded { items.insert(item) }
            case .credit, nil: break
            }
        }
        return items.sorted()
    }

    /// The ends of a person's season passes: each begins where the one before it ends, unless that one is taken back.
    static func seasonEnds(
        _ sales: [SimulatedSale], takenBack: Set<TransactionKey>
    ) -> [TransactionKey: Timestamp] {
        var ends: [TransactionKey: Timestamp] = [:]
        var running: [Item: (end: Timestamp, day: Int)] = [:]
        for sale in sales.sorted(by: { ($0.purchaseDate, $0.key) < ($1.purchaseDate, $1.key) }) {
            guard case .itemFor(let item, let period)? = sale.benefit else { continue }
            let before = running[item].flatMap { $0.end > sale.purchaseDate ? $0 : nil }
            let (start, day) = before ?? (sale.purchaseDate, sale.purchaseDate.dayOfMonth)
            let end = start.adding(period, dayOfMonth: day)
            ends[sale.key] = end
            guard sale.revocation == nil, !takenBack.contains(sale.originalKey) else { continue }
            running[item] = (end, day)
        }
        return ends
    }

    private func balanceOf(_ person: Person, by sales: [SimulatedSale]) throws -> Int {
        let bought = sales.filter(counts).reduce(try seedsFromPlay(of: person) + seedsFromAcme(of: person)) {
            sum, sale in
            guard case .credit(let credit) = sale.benefit else { return sum }
            return sum + credit.amount * sale.quantity
        }
        return max(0, bought - (spent[person.user.name] ?? 0))
    }
}
