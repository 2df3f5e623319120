import Proofs

/// The facts about all transactions of a purchase that decisions need.
///
/// A receipt has thousands of transactions of one subscription. Each would otherwise read all the others.
struct PurchaseSummary: Hashable, Sendable {
    /// True if a part of the purchase has added to a balance.
    var addsToBalance = false
    /// True if a part without an end is not revoked.
    var isEndless = false
    /// The last end of the parts that are not revoked. The next period ends one earlier, such as a longer one that was upgraded.
    var end: Timestamp?

    init(_ transactions: some Sequence<EntitlementFacts.Transaction>) {
        var (following, group): (Timestamp?, (date: Timestamp, isPeriod: Bool)?)
        for transaction in transactions.sorted(by: { $0.purchaseDate > $1.purchaseDate }) {
            addsToBalance = addsToBalance || transaction.addsToBalance
            let (isRevoked, date) = (transaction.status.isRevoked, transaction.purchaseDate)
            guard let expiresAt = transaction.expiresAt else {
                isEndless = isEndless || !isRevoked
                continue
            }
            if let last = group, last.date > date {
                following = last.isPeriod ? last.date : following
                group = nil
            }
            if !isRevoked {
                let ends = max(expiresAt, transaction.grace?.endsAt ?? expiresAt)
                end = [end, min(ends, following ?? ends)].compactMap(\.self).max()
            }
            let isPeriod =
                !transaction.isAdditional
                && !PurchasePeriod.isVoid(from: date, revokedAt: transaction.status.revocationDate)
            group = (date, isPeriod || group?.isPeriod ?? false)
        }
    }
}

/// The periods of a subscription in the order of their beginnings.
struct PurchasePeriods: Sendable {
    private var order: [(beginsAt: Timestamp, key: TransactionKey)] = []
    /// The periods that are revoked.
    private(set) var revoked: Set<TransactionKey> = []

    mutating func set(_ transaction: EntitlementFacts.Transaction, for key: TransactionKey, isNew: Bool) {
        guard transaction.status.expiresAt != nil else { return }
        if transaction.status.isRevoked { revoked.insert(key) } else { revoked.remove(key) }
        guard isNew else { return }
        order.insert((transaction.purchaseDate, key), at: index { $0 <= transaction.purchaseDate })
    }

    /// The period that begins last.
    var last: TransactionKey? { order.last?.key }

    /// The last period that begins before a moment.
    func last(before moment: Timestamp) -> TransactionKey? {
        let index = index { $0 < moment }
        return index > 0 ? order[index - 1].key : nil
    }

    /// The first period that begins after a moment.
    func first(after moment: Timestamp) -> TransactionKey? {
        let index = index { $0 <= moment }
        return index < order.count ? order[index].key : nil
    }

    /// The periods that begin in an interval; none if its end is before its start.
    func keys(from start: Timestamp, through end: Timestamp) -> [TransactionKey] {
        start > end ? [] : order[index { $0 < start }..<index { $0 <= end }].map(\.key)
    }

    /// The number of periods whose beginnings fulfil a condition that only the first ones fulfil.
    private func index(_ isBefore: (Timestamp) -> Bool) -> Int {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(order[middle].beginsAt) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The last statement about the transactions that repeat one purchase.
struct RepeatedStatus: Hashable, Sendable {
    private(set) var last: TransactionStatus
    /// True if no transaction has an earlier statement.
    private(set) var isOfAll = true

    mutating func add(_ status: TransactionStatus) {
        if status.isLater(than: last) {
            last = status
            isOfAll = false
        } else if last.isLater(than: status) {
            isOfAll = false
        }
    }

    /// True if some transaction may have an earlier statement than this one.
    func isBehind(_ status: TransactionStatus) -> Bool { !isOfAll || status.isLater(than: last) }

    /// Notes that no transaction has an earlier statement than this one.
    mutating func reach(_ status: TransactionStatus) {
        if !last.isLater(than: status) { self = RepeatedStatus(last: status) }
    }

    /// The purchase that is repeated: the transactions with the same original and product.
    struct Key: Hashable, Sendable {
        private let original: TransactionKey
        private let product: ByteKey

        init(_ original: TransactionKey, _ product: String) {
            self.original = original
            self.product = ByteKey(product)
        }
    }
}

/// The claims parked for other transactions of a claim's purchase, as far as they are known, in the order of their
/// identifiers.
struct ParkedSiblings: Sendable {
    /// The claim whose siblings they are.
    let key: TransactionKey
    let purchase: EntitlementFacts.ParkedPurchase?

    /// The last naming by a sibling; nil if no sibling has the account token of a user.
    var lastNaming: EntitlementFacts.NamedOwner? { purchase?.namings.first { $0.key != key }?.owner }

    var claims: some Sequence<Claim> { (purchase?.claims ?? []).lazy.filter { [key] in $0.key != key } }
}

extension EntitlementFacts {
    /// The statements parked for an original transaction.
    struct ParkedPurchase: Sendable {
        /// The claims with a benefit, in the order of their identifiers.
        var claims: [Claim] = []
        /// The last two namings by transactions, the last one first. A claim ignores its own.
        var namings: [(key: TransactionKey, owner: NamedOwner)] = []
    }
}
