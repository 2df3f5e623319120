import Proofs

/// The rules of the figures: the contribution of one user's transactions to the sums of all users.
///
/// `Documentation/Figures.md` has the definitions. The sums depend only on the transactions, in any order.
package enum UserFigures {
    /// The version of the rules. Sums of another version are recomputed.
    static let version = 1

    package static func sums(of bought: [BoughtTransaction]) -> FigureSums {
        var sums = FigureSums()
        let transactions = bought.compactMap { FigureTransaction($0) }
        let purchases = Dictionary(grouping: transactions) { PurchaseKey($0) }.values.map { $0.sorted() }
        var sales: [FigureTransaction] = []
        for purchase in purchases {
            var periods = purchase.filter { $0.expiresAt != nil }
            // An upgrade is no refund, though the App Store may state it as one before its new period is known.
            if let last = periods.indices.last, periods[last].isUpgraded { periods[last].refundedAt = nil }
            sales += periods + once(purchase.filter { $0.expiresAt == nil })
            sums.add(SubscriptionTimeline(periods).sums)
        }
        for sale in sales { add(sale, to: &sums) }
        for first in firsts(of: sales) {
            sums.add(
                1, to: FigureKey(day: CalendarDay(first.purchaseDate), metric: .newCustomers, subject: first.subject))
        }
        return sums
    }

    /// The purchase of a transaction.
    private struct PurchaseKey: Hashable {
        let app: Int64
        let origin: Origin
        let original: ByteKey

        init(_ transaction: FigureTransaction) {
            (app, origin) = (transaction.subject.app, transaction.subject.origin)
            original = transaction.original
        }
    }

    /// The transactions of one purchase without repetitions by restoring: one per product, the original if it is known.
    private static func once(_ transactions: [FigureTransaction]) -> [FigureTransaction] {
        Dictionary(grouping: transactions, by: \.subject.product).values.compactMap { repeats in
            repeats.first { $0.identifier == $0.original } ?? repeats.first
        }
    }

    private static func add(_ sale: FigureTransaction, to sums: inout FigureSums) {
        // A trial is not a sale.
        guard !sale.isTrial else { return }
        let day = CalendarDay(sale.purchaseDate)
        func add(_ amount: Int64, _ metric: FigureMetric, on day: CalendarDay, in currency: String = "") {
            sums.add(
                amount,
                to: FigureKey(day: day, metric: metric, subject: sale.subject, currency: ByteKey(currency)))
        }
        add(Int64(sale.quantity), .units, on: day)
        add(1, .transactions, on: day)
        if let price = sale.price {
            add(price.milliunits, .revenue, on: day, in: price.currency)
        } else {
            add(1, .withoutPrice, on: day)
        }
        guard let refundedAt = sale.refundedAt else { return }
        add(1, .refunds, on: CalendarDay(refundedAt))
        add(1, .refundedTransactions, on: day)
        if let price = sale.price, let amount = sale.refundedAmount {
            add(amount, .refundedRevenue, on: CalendarDay(refundedAt), in: price.currency)
        }
    }

    /// The first transaction in each app and origin, trials included.
    private static func firsts(of sales: [FigureTransaction]) -> [FigureTransaction] {
        var firsts: [CustomerKey: FigureTransaction] = [:]
        for sale in sales {
            let key = CustomerKey(app: sale.subject.app, origin: sale.subject.origin)
            if firsts[key].map({ sale < $0 }) ?? true { firsts[key] = sale }
        }
        return Array(firsts.values)
    }

    private struct CustomerKey: Hashable {
        let app: Int64
        let origin: Origin
    }
}
