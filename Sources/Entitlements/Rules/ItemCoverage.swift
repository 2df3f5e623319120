import Proofs
import Vocabulary

/// The period in which a source that is not revoked gives an item to a user.
///
/// It is an object, because the rules sort and filter lists of it.
package final class ItemCoverage: Sendable {
    package let item: Item
    /// The start of the ownership: the purchase date, or the redemption if the App Store has signed the renewal before its start.
    package let beginsAt: Timestamp
    /// The start of the coverage; nil for a source that needs no start.
    package let coversFrom: Timestamp?
    /// Nil for a source without an end.
    package let endsAt: Timestamp?
    package let source: OwnedItem.Source
    /// The last statement about the renewal of the purchase; nil without one.
    package let renewal: StatedRenewal?

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
        self.renewal = renewal
    }

    /// True if the coverage has not ended.
    func isRunning(at moment: Timestamp) -> Bool { endsAt.map { $0 > moment } ?? true }

    /// The coverage that has begun, and the renewals as the same product that follow it without a gap.
    static func inEffect(_ coverage: [ItemCoverage], at moment: Timestamp) -> [ItemCoverage] {
        let later = coverage.filter { !$0.hasBegun(at: moment) }
        guard !later.isEmpty else { return coverage }
        var counting = coverage.filter { $0.hasBegun(at: moment) }
        for next in later.sorted(by: { $0.beginsAt < $1.beginsAt })
        where counting.contains(where: { $0.isRunning(at: moment) && $0.isContinued(by: next) }) {
            counting.append(next)
        }
        return counting
    }

    private func hasBegun(at moment: Timestamp) -> Bool { coversFrom.map { $0 <= moment } ?? true }

    private func isContinued(by next: ItemCoverage) -> Bool {
        guard case .purchase(let own) = source, case .purchase(let other) = next.source, let endsAt,
            own.origin == other.origin,
            own.originalTransactionIdentifier.hasSameBytes(as: other.originalTransactionIdentifier),
            own.productIdentifier.hasSameBytes(as: other.productIdentifier)
        else { return false }
        return next.coversFrom.map { $0 <= endsAt } ?? true
    }

    /// The coverage that ends last; nil without any.
    static func last(of coverage: [ItemCoverage]) -> ItemCoverage? {
        coverage.reduce(nil) { last, next in
            last.map { next.takesPrecedence(over: $0) } ?? true ? next : last
        }
    }

    /// The start of the time that other coverage covers without a gap until the end of this one.
    func beginning(after coverage: [ItemCoverage]) -> Timestamp {
        var beginning = beginsAt
        for earlier in coverage.sorted(by: { $0.beginsAt > $1.beginsAt }) where earlier.beginsAt < beginning {
            let isConnected =
                earlier.endsAt.map { $0.adding(seconds: PurchaseStatus.maximumGapSeconds) >= beginning } ?? true
            if isConnected { beginning = earlier.beginsAt }
        }
        return beginning
    }

    /// True if this coverage is shown instead of another, because it ends later, or began earlier.
    private func takesPrecedence(over other: ItemCoverage) -> Bool {
        let (end, otherEnd) = (endsAt?.millisecondsSince1970 ?? .max, other.endsAt?.millisecondsSince1970 ?? .max)
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
            let coverage = ItemCoverage.inEffect(Array(rest.prefix { $0.item == item }), at: moment)
            rest = rest.drop { $0.item == item }
            guard let longest = ItemCoverage.last(of: coverage.filter { $0.isRunning(at: moment) }) else { continue }
            owned.append(OwnedItem(longest, since: longest.beginning(after: coverage), at: moment, type: type))
        }
        let others = free.filter { item in !owned.contains { $0.item == item } }
        guard !others.isEmpty else { return owned }
        return (owned + others.map { OwnedItem(item: $0, source: .rule, since: nil) }).sorted { $0.item < $1.item }
    }

    init(_ coverage: ItemCoverage, since: Timestamp, at moment: Timestamp, type: (String) -> ProductType?) {
        var (state, renews): (PurchaseState, Bool?) = (.owned, false)
        if case .purchase(let purchase) = coverage.source {
            let period = purchase.period
            let type =
                period.terms.type ?? type(period.productIdentifier)
                ?? coverage.renewal.map { _ in .autoRenewableSubscription }
            let renewal = coverage.renewal.flatMap { $0.counts(forPeriodFrom: period.purchaseDate) ? $0 : nil }
            let next =
                type == .autoRenewableSubscription ? NextStep(after: period, renewal, at: moment) : .ends(nil)
            state = PurchaseState(of: period, type, next, at: moment)
            renews = next.renews(by: renewal)
        }
        self.init(
            item: coverage.item, source: coverage.source, state: state, since: since, until: coverage.endsAt,
            renews: renews)
    }
}
