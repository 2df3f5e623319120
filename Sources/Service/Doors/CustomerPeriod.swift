import Entitlements
import Proofs

/// A transaction with the end of the access that it gives.
struct CustomerPeriod: Sendable {
    let transaction: RedeemedTransaction
    let terms: PurchasePeriod.Terms
    /// The purchase date of the next transaction of the same purchase; nil for its last one.
    let nextPurchaseDate: Timestamp?
    /// The end of access; nil for no end.
    let endsAt: Timestamp?

    /// - Parameter replacedAt: The start of the next period as another product, which has not begun; nil if none is known.
    private init(
        _ transaction: RedeemedTransaction,
        _ terms: PurchasePeriod.Terms,
        nextPurchaseDate: Timestamp?,
        replacedAt: Timestamp?
    ) {
        self.transaction = transaction
        self.terms = terms
        self.nextPurchaseDate = nextPurchaseDate
        endsAt = transaction.accessEnd(before: nextPurchaseDate ?? replacedAt)
    }

    /// The period of a purchase with one transaction, which is the current one, whatever its state.
    init(only transaction: RedeemedTransaction) {
        self.init(transaction, PurchasePeriod.Terms(transaction.facts), nextPurchaseDate: nil, replacedAt: nil)
    }

    /// True if the store or the team has taken the purchase back.
    var isRevoked: Bool { transaction.revocationDate != nil || transaction.revocation != nil }

    var originalPurchaseDate: Timestamp {
        transaction.facts.date(.originalPurchaseDate) ?? transaction.purchaseDate
    }

    var isSandbox: Bool { transaction.origin.isSandbox }

    /// The periods of a purchase that count at a moment, in the order of their purchase dates.
    static func periods(of transactions: [RedeemedTransaction], at moment: Timestamp) -> [CustomerPeriod] {
        if transactions.count == 1, let only = transactions.first { return [CustomerPeriod(only: only)] }
        let sorted = transactions.sorted { $0.isEarlier(than: $1) }
        let periods = sorted.map { PurchasePeriod($0) }
        let counting = PurchasePeriod.inEffect(periods, at: moment)
        var kept = Array(zip(sorted, periods))
        if counting.count < periods.count {
            let identifiers = Set(counting.map { ByteKey($0.transactionIdentifier) })
            kept.removeAll { !identifiers.contains(ByteKey($0.0.transactionIdentifier)) }
        }
        return kept.enumerated().map { index, period in
            CustomerPeriod(
                period.0, period.1.terms,
                nextPurchaseDate: index + 1 < kept.count ? kept[index + 1].0.purchaseDate : nil,
                replacedAt: counting.last?.replacedAt)
        }
    }

    /// True if this period gives access longer than another. Of two with the same end, the later purchase does.
    func lasts(longerThan other: CustomerPeriod) -> Bool {
        endsAt.isLaterEnd(than: other.endsAt)
            ?? ((transaction.purchaseDate, transaction.sequence)
                > (other.transaction.purchaseDate, other.transaction.sequence))
    }
}

extension Timestamp? {
    /// True if an end of access is later than another; nil if they are equal. Nil stands for no end.
    func isLaterEnd(than other: Timestamp?) -> Bool? {
        guard self != other else { return nil }
        guard let self else { return true }
        return other.map { self > $0 } ?? false
    }
}
