import Entitlements
import Proofs

/// The rules of the figures: the contribution of one user's transactions to the sums of all users.
///
/// `Documentation/Figures.md` has the definitions. The sums depend only on the transactions, in any order.
package enum UserFigures {
    /// The version of the rules. Sums of another version are recomputed.
    static let version = 1

    /// The facts of the transactions that the figures depend on.
    static let facts: [TransactionFact] =
        PurchasePeriod.Terms.facts + [
            .storefront, .price, .currency, .multiSeatInfo, .expiresDate, .originalPurchaseDate, .revocationType,
            .revocationPercentage,
        ]

    package static func sums(of bought: [RedeemedTransaction]) -> FigureSums {
        var sums = FigureSums()
        let transactions = bought.compactMap { FigureTransaction($0) }
        let purchases = Dictionary(grouping: transactions, by: \.purchase).values.map { $0.sorted() }
        var sales: [FigureTransaction] = []
        for purchase in purchases {
            var periods = purchase.filter { $0.expiresAt != nil }
            // An upgrade is no refund, though the App Store may state it as one before its new period is known.
            if let last = periods.indices.last, periods[last].terms.isUpgraded { periods[last].refundedAt = nil }
            sales += periods + once(purchase.filter { $0.expiresAt == nil })
            sums.add(SubscriptionTimeline(periods).sums)
        }
        for sale in sales { add(sale, to: &sums) }
        for first in firsts(of: sales) {
            sums.add(1, .newCustomers, of: first.subject, on: CalendarDay(first.purchaseDate))
        }
        addPayers(of: sales, to: &sums)
        return sums
    }

    /// The user's first payment of each month in each app, environment and currency, and the first of all. A user of both stores counts once,
    /// in the store of that payment.
    private static func addPayers(of sales: [FigureTransaction], to sums: inout FigureSums) {
        var (isKnown, paid): (Set<[String]>, Set<[String]>) = ([], [])
        for sale in sales.sorted() where !sale.terms.isTrial {
            guard let price = sale.price, price.milliunits > 0 else { continue }
            let (subject, day) = (sale.subject, CalendarDay(sale.purchaseDate))
            let payer = ["\(subject.app)", "\(subject.origin.isSandbox)", price.currency]
            if isKnown.insert(payer).inserted {
                sums.add(1, .payersNew, of: subject, on: day, in: ByteKey(price.currency))
            }
            if paid.insert(payer + [day.firstOfMonth.description]).inserted {
                sums.add(1, .payers, of: subject, on: day, in: ByteKey(price.currency))
            }
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
        guard !sale.terms.isTrial else { return }
        let day = CalendarDay(sale.purchaseDate)
        sums.add(Int64(sale.quantity), .units, of: sale.subject, on: day)
        sums.add(1, .transactions, of: sale.subject, on: day)
        if let price = sale.price {
            sums.add(price.milliunits, .revenue, of: sale.subject, on: day, in: ByteKey(price.currency))
        } else {
            sums.add(1, .withoutPrice, of: sale.subject, on: day)
        }
        guard let refundedAt = sale.refundedAt else { return }
        sums.add(1, .refunds, of: sale.subject, on: CalendarDay(refundedAt))
        sums.add(1, .refundedTransactions, of: sale.subject, on: day)
        if let price = sale.price, let amount = sale.refundedAmount {
            sums.add(
                amount, .refundedRevenue, of: sale.subject, on: CalendarDay(refundedAt), in: ByteKey(price.currency))
        }
    }

    /// The first transaction in each app and environment, trials included. A user of both stores is new once.
    private static func firsts(of sales: [FigureTransaction]) -> [FigureTransaction] {
        Dictionary(grouping: sales) { FigurePayer($0.subject) }.values.compactMap { $0.min() }
    }
}

/// A transaction with the facts for the figures.
struct FigureTransaction {
    /// The largest plausible price, in milliunits: a billion units of the currency.
    private static let maximumPrice: Int64 = 1_000_000_000_000

    let subject: FigureSubject
    let identifier: ByteKey
    let original: ByteKey
    let quantity: Int
    let purchaseDate: Timestamp
    let terms: PurchasePeriod.Terms
    /// The price of the quantity, or of all seats. Nil if the App Store has stated no price, or no currency.
    let price: Price?
    /// The end of the paid time; nil for a purchase that is not an auto-renewable subscription.
    let expiresAt: Timestamp?
    /// The end of the grace period after it; nil if there is none.
    let graceEndsAt: Timestamp?
    /// The date of the refund; nil without one.
    var refundedAt: Timestamp?
    /// The refunded amount, in milliunits; nil if the App Store has not stated it.
    let refundedAmount: Int64?

    /// - Returns: Nil for a transaction that another customer has paid for.
    init?(_ transaction: RedeemedTransaction) {
        let facts = transaction.facts
        terms = PurchasePeriod.Terms(facts)
        guard !terms.isPaidByAnother else { return nil }
        subject = FigureSubject(
            app: transaction.appNumber, origin: transaction.origin, product: transaction.productIdentifier,
            storefront: facts.text(.storefront))
        identifier = ByteKey(transaction.transactionIdentifier)
        original = ByteKey(transaction.originalTransactionIdentifier)
        quantity = transaction.quantity
        let price = transaction.paidAmount.flatMap { (0..<Self.maximumPrice).contains($0) ? $0 : nil }
        let currency = facts.text(.currency).flatMap(FigureSubject.code)
        self.price = price.flatMap { price in currency.map { Price(milliunits: price, currency: $0.text) } }
        let isSubscription = transaction.isSubscription
        let expiresAt = isSubscription ? transaction.paidUntil : nil
        self.expiresAt = expiresAt.map(Self.bounded)
        graceEndsAt = isSubscription ? transaction.graceEndsAt.map(Self.bounded) : nil
        // A restored purchase has another identifier, and the purchase date of its original.
        let isRestored = expiresAt == nil && identifier != original
        purchaseDate = Self.bounded(
            (isRestored ? facts.date(.originalPurchaseDate) : nil) ?? transaction.purchaseDate)
        refundedAt = transaction.isRefunded ? transaction.revocationDate.map(Self.bounded) : nil
        refundedAmount = self.price.flatMap { transaction.refundedAmount(of: $0.milliunits) }
    }

    fileprivate var purchase: PurchaseOfUser {
        PurchaseOfUser(app: subject.app, origin: subject.origin, original: original)
    }

    /// Limits a date to the years from 1970 to 9999, which a calendar day supports.
    private static func bounded(_ date: Timestamp) -> Timestamp {
        min(max(date, Timestamp(secondsSince1970: 0)), Timestamp(secondsSince1970: 253_402_214_400))
    }
}

/// The order by date, then by identifier.
extension FigureTransaction: Comparable {
    static func == (left: FigureTransaction, right: FigureTransaction) -> Bool {
        left.purchaseDate == right.purchaseDate && left.identifier == right.identifier
    }

    static func < (left: FigureTransaction, right: FigureTransaction) -> Bool {
        left.purchaseDate != right.purchaseDate
            ? left.purchaseDate < right.purchaseDate : left.identifier < right.identifier
    }
}
