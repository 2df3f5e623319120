import Ledger
import Proofs
import Vocabulary

/// The time that a purchase adds to its item: a non-renewing subscription, or a one-time product of Google Play, for a fixed period.
///
/// Neither store ends such a purchase, so its end is the service's. A customer who buys one while another runs extends the time: the
/// second period begins where the first one ends. Apple leaves the duration to the app, which lets a customer buy a service "with a
/// limited duration" any number of times (developer.apple.com/help/app-store-connect/reference/in-app-purchase-types). So nobody may
/// lose paid days by buying early.
package struct FixedPeriod: Hashable, Sendable {
    package let period: SubscriptionPeriod
    /// Nil if it was not read.
    package internal(set) var item: Item?

    package init(_ period: SubscriptionPeriod, of item: Item?) {
        self.period = period
        self.item = item
    }

    /// The end of the period if nothing else runs.
    func end(from purchaseDate: Timestamp) -> Timestamp {
        purchaseDate.adding(period, dayOfMonth: purchaseDate.dayOfMonth)
    }

    /// A purchase among those that add to the same time.
    package struct Charge: Hashable, Sendable {
        package let key: TransactionKey
        let purchaseDate: Timestamp
        let period: SubscriptionPeriod
        /// True if a store or the team has taken it back. It adds no time.
        package let isRevoked: Bool

        package init(_ key: TransactionKey, at purchaseDate: Timestamp, _ period: SubscriptionPeriod, isRevoked: Bool) {
            (self.key, self.purchaseDate, self.period, self.isRevoked) = (key, purchaseDate, period, isRevoked)
        }
    }

    /// The end of each charge: of its period after the purchase, or after the charges before it, whichever is later.
    ///
    /// It is a pure function of the charges. So their order of arrival does not matter, and a refund moves the later ends back.
    package static func ends(of charges: some Sequence<Charge>) -> [TransactionKey: Timestamp] {
        var ends: [TransactionKey: Timestamp] = [:]
        var running: (until: Timestamp, dayOfMonth: Int)?
        for charge in charges.sorted(by: { ($0.purchaseDate, $0.key) < ($1.purchaseDate, $1.key) }) {
            var (start, day) = (charge.purchaseDate, charge.purchaseDate.dayOfMonth)
            // Months are counted from the first purchase: two after the 31st of January end on the 31st of March.
            if let running, running.until > start { (start, day) = running }
            let end = start.adding(charge.period, dayOfMonth: day)
            ends[charge.key] = end
            guard !charge.isRevoked else { continue }
            switch charge.period.unit {
            case .month, .year: running = (end, day)
            case .day, .week: running = (end, end.dayOfMonth)
            }
        }
        return ends
    }
}

/// The rule of fixed periods.
extension EntitlementDecision {
    /// The purchases that extend one another: those of a user for an item. Test purchases extend only test purchases.
    private struct Stack: Hashable {
        let owner: Int64
        let item: Item
        let isSandbox: Bool

        /// The place among the stacks of a decision.
        var order: (Int64, Item, Int) { (owner, item, isSandbox ? 1 : 0) }
    }

    /// The purchases to which a fixed period belongs; nil for another benefit.
    private func stack(of key: TransactionKey, _ transaction: EntitlementFacts.Transaction) -> Stack? {
        guard let item = transaction.fixed?.item, let owner = facts.purchases[transaction.originalKey]?.owner else {
            return nil
        }
        return Stack(owner: owner, item: item, isSandbox: key.origin.isSandbox)
    }

    private func isRevoked(_ transaction: EntitlementFacts.Transaction) -> Bool {
        transaction.status.isRevoked || facts.revokedByTeam.contains(transaction.originalKey)
    }

    /// True if the time of a purchase goes on with that of a later one. Then its end is no end for the customer.
    func isContinued(_ original: TransactionKey) -> Bool {
        let last = facts.transactions(of: original).filter { $0.transaction.fixed != nil }
            .max {
                $0.transaction.expiresAt ?? $0.transaction.purchaseDate < $1.transaction.expiresAt
                    ?? $1.transaction.purchaseDate
            }
        guard let last, let end = last.transaction.expiresAt, let stack = stack(of: last.key, last.transaction) else {
            return false
        }
        return facts.transactions.contains { key, other in
            other.purchaseDate <= end && other.expiresAt.map { $0 > end } ?? false && !isRevoked(other)
                && self.stack(of: key, other) == stack
        }
    }

    /// Gives each fixed period the end that follows from all charges of its owner for the item.
    ///
    /// The facts must have them all (`EntitlementRecords.readFixedPeriods`).
    package mutating func extendFixedPeriods() {
        var stacks: [Stack: [FixedPeriod.Charge]] = [:]
        for (key, transaction) in facts.transactions {
            guard let fixed = transaction.fixed else { continue }
            guard let stack = stack(of: key, transaction) else {
                note("a fixed period has its item and its owner", key)
                continue
            }
            stacks[stack, default: []].append(
                .init(key, at: transaction.purchaseDate, fixed.period, isRevoked: isRevoked(transaction)))
        }
        guard !stacks.isEmpty else { return }
        let new = Set(changes.newTransactions.map(\.key))
        for (stack, charges) in stacks.sorted(by: { $0.key.order < $1.key.order }) {
            for (key, end) in FixedPeriod.ends(of: charges).sorted(by: { $0.key < $1.key }) {
                guard let transaction = facts.transactions[key], transaction.expiresAt != end else { continue }
                change(key) { $0.extendedUntil = end }
                changes.stated.insert(transaction.originalKey)
                if !new.contains(key), !transaction.status.isRevoked {
                    changes.events.append(
                        .endChanged(productIdentifier: transaction.productIdentifier, user: stack.owner))
                }
            }
        }
    }
}

/// The facts about fixed periods.
extension EntitlementFacts {
    /// True if one of the purchases, or of the parked statements, is for a fixed period.
    var haveFixedPeriods: Bool {
        transactions.values.contains { $0.fixed != nil } || parked.values.contains { $0.claim.period != nil }
    }

    /// Adds purchases that are not among the facts.
    mutating func add(_ others: EntitlementFacts) {
        for (original, purchase) in others.purchases where purchases[original] == nil {
            set(purchase, for: original)
            for (key, transaction) in others.transactions(of: original) { set(transaction, for: key) }
            if others.revokedByTeam.contains(original) { revokedByTeam.insert(original) }
            recordedStates[original] = others.recordedStates[original]
        }
    }

    mutating func set(_ item: Item, ofFixedPeriod key: TransactionKey) throws(BrokenInvariant) {
        guard var transaction = transactions[key], transaction.fixed != nil else {
            throw BrokenInvariant("the item of a fixed period is one of a read transaction", key.identifier)
        }
        transaction.fixed?.item = item
        set(transaction, for: key)
    }
}

/// The SQL of fixed periods, inside the caller's transaction.
extension EntitlementRecords {
    /// Adds all purchases of users for a fixed period to the facts.
    ///
    /// - Throws: `ColumnMismatch` if one of them gives no item.
    func readFixedPeriods(of users: Set<Int64>, into facts: inout EntitlementFacts) throws {
        let owners = users.filter { $0 > 0 }
        guard !owners.isEmpty else { return }
        let rows = try database.rows(
            """
            SELECT transaction_id, origin, app, original_transaction_id, collection, number FROM redeemed_transaction
            WHERE user_id \(database.isIn(numbers: "$1")) AND fixed_period IS NOT NULL AND collection IS NOT NULL
            """,
            [database.list(owners.sorted())]
        ) { row in
            (key: try apps.key(&row), original: try row.next() as String, item: try Item(&row))
        }
        let originals = Set(
            rows.map { TransactionKey(app: $0.key.app, origin: $0.key.origin, identifier: $0.original) })
        let missing = originals.filter { facts.purchases[$0] == nil }
        if !missing.isEmpty { facts.add(try self.facts(ofPurchases: missing)) }
        for row in rows { try facts.set(row.item, ofFixedPeriod: row.key) }
        guard facts.transactions.values.allSatisfy({ $0.fixed.map { $0.item != nil } ?? true }) else {
            throw ColumnMismatch.column("fixed_period")
        }
    }
}
