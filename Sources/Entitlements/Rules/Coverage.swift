import Proofs
import Vocabulary

/// The period in which a user owns the benefit of a transaction.
package struct Coverage: Hashable, Sendable {
    /// Nil for a purchase without an end, which needs no start.
    package let beginsAt: Timestamp?
    /// Nil for a purchase without an end.
    package let endsAt: Timestamp?
    /// True if the App Store or the team has revoked the purchase.
    package let isRevoked: Bool

    /// The tolerance for the App Store's clock, which may be ahead as far as a proof's date may be.
    static let clockToleranceSeconds: Int64 = 60

    /// The moment from which a period counts. One that the App Store has signed in advance counts from its purchase date.
    static func beginning(of purchaseDate: Timestamp, signedAt: Timestamp?) -> Timestamp {
        let earliest = purchaseDate.adding(seconds: -clockToleranceSeconds)
        return signedAt.map { $0 < earliest } ?? false ? purchaseDate : earliest
    }
}

extension EntitlementFacts {
    /// The coverage of each transaction of a purchase.
    ///
    /// A period of a subscription covers the time from its purchase to its end, or to the end of the grace period. The next
    /// purchased period ends it earlier, but not a transaction that adds seats to it. A renewal that the App Store has signed before
    /// its start covers the time from the end of the known periods, but not the time before the signature.
    package func coverage(of original: TransactionKey) -> [TransactionKey: Coverage] {
        let transactions = transactions(of: original).sorted {
            $0.transaction.purchaseDate < $1.transaction.purchaseDate
        }
        let isRevokedByTeam = revokedByTeam.contains(original)
        let next = Self.replacements(transactions.map(\.transaction))
        var coverage: [TransactionKey: Coverage] = [:]
        var coveredUntil: Timestamp?
        for (key, transaction) in transactions {
            let isRevoked = isRevokedByTeam || transaction.status.isRevoked
            guard let expiresAt = transaction.expiresAt else {
                coverage[key] = Coverage(beginsAt: nil, endsAt: nil, isRevoked: isRevoked)
                continue
            }
            let signedAt = transaction.status.statedAt.adding(seconds: -Coverage.clockToleranceSeconds)
            let end = max(expiresAt, transaction.grace?.endsAt ?? expiresAt)
            // Of two periods of the same millisecond, the upgraded one is replaced.
            let twin =
                transaction.isUpgraded
                ? transactions.lazy.map(\.transaction).filter {
                    $0.purchaseDate == transaction.purchaseDate && !$0.isUpgraded && !$0.isVoid
                }.map(\.beginning).min() : nil
            let endsAt = min(end, twin ?? next[transaction.purchaseDate] ?? end)
            coverage[key] = Coverage(
                beginsAt: min(transaction.beginning, max(signedAt, coveredUntil ?? signedAt)), endsAt: endsAt,
                isRevoked: isRevoked)
            if !isRevoked { coveredUntil = max(endsAt, coveredUntil ?? endsAt) }
        }
        return coverage
    }

    /// The beginning of the next period for each purchase date.
    ///
    /// - Parameter transactions: The transactions in the order of their purchase dates.
    private static func replacements(_ transactions: [Transaction]) -> [Timestamp: Timestamp] {
        // Most purchases are one transaction, which nothing follows.
        guard transactions.count > 1 else { return [:] }
        var seats = SeatAdditions()
        let replacing = Dictionary(
            transactions.filter {
                !seats.adds(
                    $0.isAdditional, to: $0.productIdentifier, from: $0.purchaseDate, until: $0.status.expiresAt)
                    && !$0.isVoid
            }.map { ($0.purchaseDate, $0.beginning) }, uniquingKeysWith: min)
        var next: [Timestamp: Timestamp] = [:]
        var following: Timestamp?
        for date in Set(transactions.map(\.purchaseDate)).sorted().reversed() {
            next[date] = following
            following = [replacing[date], following].compactMap(\.self).min()
        }
        return next
    }
}

extension EntitlementFacts.Transaction {
    /// True if the store has taken the period back before it began.
    fileprivate var isVoid: Bool { PurchasePeriod.isVoid(from: purchaseDate, revokedAt: status.revocationDate) }

    fileprivate var beginning: Timestamp {
        Coverage.beginning(of: purchaseDate, signedAt: stated?.date(.signedDate) ?? terms?.signedAt)
    }
}

/// Finds the transactions of a purchase that add seats to the period of an earlier one (App Store Server API,
/// `additionalTransactionReason`).
///
/// Such a transaction takes no period's place. The App Store states the reason for every transaction of the period, so the one
/// that was there before is told by its date.
package struct SeatAdditions {
    /// The last end of the periods so far, by the product.
    private var ends: [ByteKey: Timestamp] = [:]

    package init() {}

    /// Returns true if the next transaction adds seats to the period of an earlier one.
    ///
    /// - Parameters:
    ///   - isAdditional: True if the App Store has stated that the transaction is not the only one of its period.
    ///   - start: The purchase date, not before that of the transaction before.
    package mutating func adds(_ isAdditional: Bool, to product: String, from start: Timestamp, until end: Timestamp?)
        -> Bool
    {
        guard let end else { return false }
        let last = ends[ByteKey(product)]
        ends[ByteKey(product)] = max(last ?? end, end)
        return isAdditional && last.map { start.adding(seconds: Coverage.clockToleranceSeconds) < $0 } ?? false
    }

    package mutating func adds(_ period: PurchasePeriod) -> Bool {
        adds(
            period.terms.isAdditional, to: period.productIdentifier, from: period.purchaseDate, until: period.expiresAt)
    }

    package mutating func adds(_ transaction: RedeemedTransaction) -> Bool {
        adds(
            PurchasePeriod.Terms(transaction.facts).isAdditional, to: transaction.productIdentifier,
            from: transaction.purchaseDate, until: transaction.expiresAt)
    }
}

/// The period in which a source that is not revoked gives an item to a user.
///
/// It stays small, because the rules sort and filter lists of it.
package struct ItemCoverage: Sendable {
    package let item: Item
    /// The start of the ownership: the purchase date, or the redemption if the App Store has signed the renewal before its start.
    package let beginsAt: Timestamp
    /// The start of the coverage; nil for a source that needs no start.
    package let coversFrom: Timestamp?
    /// Nil for a source without an end.
    package let endsAt: Timestamp?
    package let source: OwnedItem.Source
    /// At most one element. The array keeps the value small.
    private let renewals: [StatedRenewal]

    /// The last statement about the renewal of the purchase; nil without one.
    package var renewal: StatedRenewal? { renewals.first }

    package init(
        item: Item,
        beginsAt: Timestamp,
        coversFrom: Timestamp? = nil,
        endsAt: Timestamp?,
        source: OwnedItem.Source,
        renewal: StatedRenewal? = nil
    ) {
        self.item = item
        self.beginsAt = beginsAt
        self.coversFrom = coversFrom
        self.endsAt = endsAt
        self.source = source
        renewals = renewal.map { [$0] } ?? []
    }

    func isRunning(at moment: Timestamp) -> Bool { endsAt.map { $0 > moment } ?? true }

    /// The coverage that has begun, and the renewals as the same product that follow it without a gap.
    static func inEffect(_ coverage: ArraySlice<ItemCoverage>, at moment: Timestamp) -> ArraySlice<ItemCoverage> {
        let later = coverage.filter { !$0.hasBegun(at: moment) }
        guard !later.isEmpty else { return coverage }
        var counting = coverage.filter { $0.hasBegun(at: moment) }
        for next in later.sorted(by: { $0.beginsAt < $1.beginsAt })
        where counting.contains(where: { $0.isRunning(at: moment) && $0.isContinued(by: next) }) {
            counting.append(next)
        }
        return counting[...]
    }

    private func hasBegun(at moment: Timestamp) -> Bool { coversFrom.map { $0 <= moment } ?? true }

    private func isContinued(by next: ItemCoverage) -> Bool {
        guard case .purchase(let own) = source, case .purchase(let other) = next.source, let endsAt,
            own.origin == other.origin,
            own.original == other.original,
            own.productIdentifier.hasSameBytes(as: other.productIdentifier)
        else { return false }
        return next.coversFrom.map { $0 <= endsAt } ?? true
    }

    /// The coverage that ends last; nil without any.
    static func last(of coverage: some Sequence<ItemCoverage>) -> ItemCoverage? {
        coverage.reduce(nil) { last, next in
            last.map { next.takesPrecedence(over: $0) } ?? true ? next : last
        }
    }

    /// The start of the time that other coverage covers without a gap until the end of this one.
    func beginning(after coverage: ArraySlice<ItemCoverage>) -> Timestamp {
        // Most items have one source, whose own start is the start.
        guard coverage.count > 1 else { return beginsAt }
        var beginning = beginsAt
        for earlier in coverage.sorted(by: { $0.beginsAt > $1.beginsAt }) where earlier.beginsAt < beginning {
            let isConnected =
                earlier.endsAt.map { $0.adding(seconds: PurchaseStatus.maximumGapSeconds) >= beginning } ?? true
            if isConnected { beginning = earlier.beginsAt }
        }
        return beginning
    }

    /// True if this coverage is shown instead of another, because it ends later, or began earlier. Of two purchases that end together, the
    /// later one is shown: a subscription that has moved goes on as that one.
    private func takesPrecedence(over other: ItemCoverage) -> Bool {
        let (end, otherEnd) = (endsAt?.millisecondsSince1970 ?? .max, other.endsAt?.millisecondsSince1970 ?? .max)
        if endsAt != nil, end == otherEnd, case .purchase(let own) = source, case .purchase(let others) = other.source,
            own.original != others.original
        {
            return beginsAt > other.beginsAt
        }
        return end == otherEnd ? beginsAt < other.beginsAt : end > otherEnd
    }
}

/// The rules of items and their sources.
extension OwnedItem {
    /// The items of a user at a moment, each once, in order.
    ///
    /// - Parameters:
    ///   - coverage: All coverage. Coverage that has ended helps to find the start of the ownership.
    ///   - free: The items that everybody owns.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    package static func all(
        by coverage: [ItemCoverage],
        owningBesides free: [Item],
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) -> [OwnedItem] {
        var owned: [OwnedItem] = []
        owned.reserveCapacity(coverage.count + free.count)
        var rest = coverage.sorted { $0.item < $1.item }[...]
        while let item = rest.first?.item {
            let coverage = ItemCoverage.inEffect(rest.prefix { $0.item == item }, at: moment)
            rest = rest.drop { $0.item == item }
            let running = coverage.lazy.filter { $0.isRunning(at: moment) }
            guard let longest = ItemCoverage.last(of: running) else { continue }
            owned.append(OwnedItem(longest, since: longest.beginning(after: coverage), at: moment, type: type))
        }
        let count = owned.count
        for item in free where !owned[..<count].contains(where: { $0.item == item }) {
            owned.append(OwnedItem(item: item, source: .rule, since: nil))
        }
        if owned.count > count { owned.sort { $0.item < $1.item } }
        return owned
    }

    init(_ coverage: ItemCoverage, since: Timestamp, at moment: Timestamp, type: (String) -> ProductType?) {
        var (state, renews): (PurchaseState, Bool?) = (.owned, false)
        if case .purchase(let purchase) = coverage.source {
            let period = purchase.period
            let type =
                period.terms.type ?? type(period.productIdentifier)
                ?? coverage.renewal.map { _ in .autoRenewableSubscription }
            let store = purchase.origin.store
            let renewal = coverage.renewal.flatMap {
                $0.counts(forPeriodFrom: period.purchaseDate, of: store) ? $0 : nil
            }
            let next =
                type == .autoRenewableSubscription
                ? NextStep(after: period, renewal, of: store, at: moment) : .ends(nil)
            state = PurchaseState(of: period, type, next, at: moment)
            renews = next.renews(by: renewal)
        }
        self.init(
            item: coverage.item, source: coverage.source, state: state, since: since, until: coverage.endsAt,
            renews: renews)
    }
}
