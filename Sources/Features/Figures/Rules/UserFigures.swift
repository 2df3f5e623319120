import Entitlements
import Proofs

/// The rules of the figures: the contribution of one user's transactions to the sums of all users.
///
/// `Documentation/Figures.md` has the definitions. The sums depend only on the transactions, in any order.
package enum UserFigures {
    /// The version of the rules. Sums of another version are recomputed.
    static let version = 4

    static let facts: [TransactionFact] =
        PurchasePeriod.Terms.facts + PaidBack.facts + [
            .storefront, .currency, .expiresDate, .originalPurchaseDate, .basePlanId, .isProrated, .recurringPrice,
            .replacementMode, .transactionReason,
        ]

    package static func sums(of bought: [RedeemedTransaction]) -> FigureSums {
        var sums = FigureSums()
        var sales: [FigureTransaction] = []
        for parts in bought.charges.bySubscription.values {
            let charges = parts.map { FigureTransaction($0) }
            let timeline = SubscriptionTimeline(charges.filter { $0.expiresAt != nil }.sorted())
            sums.add(timeline.sums)
            for var sale in charges {
                sale.isTrial = timeline.readings[sale.identifier]?.isTrial ?? sale.isTrial
                sales.append(sale)
            }
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
        for sale in sales.sorted() where !sale.isTrial {
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

    private static func add(_ sale: FigureTransaction, to sums: inout FigureSums) {
        // A trial is not a sale, and neither is a move without a payment.
        guard !sale.isTrial, !sale.isFreeMove else { return }
        let day = CalendarDay(sale.purchaseDate)
        sums.add(Int64(sale.quantity), .units, of: sale.subject, on: day)
        sums.add(1, .transactions, of: sale.subject, on: day)
        if let price = sale.price {
            sums.add(price.milliunits, .revenue, of: sale.subject, on: day, in: ByteKey(price.currency))
        } else {
            sums.add(1, .withoutPrice, of: sale.subject, on: day)
        }
        guard let paidBack = sale.paidBack else { return }
        let refundDay = CalendarDay(FigureTransaction.bounded(paidBack.at))
        sums.add(1, .refunds, of: sale.subject, on: refundDay)
        sums.add(1, .refundedTransactions, of: sale.subject, on: day)
        if let price = sale.price, let amount = paidBack.amount {
            sums.add(amount, .refundedRevenue, of: sale.subject, on: refundDay, in: ByteKey(price.currency))
        }
    }

    /// The first transaction in each app and environment, trials included. A user of both stores is new once.
    private static func firsts(of sales: [FigureTransaction]) -> [FigureTransaction] {
        Dictionary(grouping: sales) { FigurePayer($0.subject) }.values.compactMap { $0.min() }
    }
}

struct FigureTransaction {
    /// The largest plausible price, in milliunits: a billion units of the currency.
    private static let maximumPrice: Int64 = 1_000_000_000_000

    let subject: FigureSubject
    let identifier: ByteKey
    let original: ByteKey
    let quantity: Int
    let purchaseDate: Timestamp
    let terms: PurchasePeriod.Terms
    /// True for a charge that the store has initiated (`transactionReason`).
    let isRenewal: Bool
    /// True for a free trial, also after the change to another product in which nothing was paid.
    var isTrial: Bool
    /// The price of the quantity, or of all seats. Nil if the store has stated no price, or no currency.
    let price: Price?
    /// The price of the plan, or that of the period if the store does not state it, or if it is an offer.
    let recurringPrice: Price?
    /// The product with its plan.
    let plan: [ByteKey]
    /// True for a period for the value of a replaced plan, which has another length and price than the plan.
    let isProrated: Bool
    /// True for a period that the rest of a replaced plan pays: "the remaining time will be prorated and credited to the user"
    /// (BillingFlowParams.SubscriptionUpdateParams.ReplacementMode, WITH_TIME_PRORATION).
    let isPaidByOther: Bool
    /// True for the first period of a plan that has replaced another one for its full price. It has the time that the rest of the other
    /// one pays, too.
    let hasCarriedTime: Bool
    /// True for the first transaction of a subscription that goes on under another original transaction, if nothing is paid for it: the
    /// former transaction has paid for the rest of the period.
    let isFreeMove: Bool
    /// The end of the paid time; nil for a purchase that is not an auto-renewable subscription.
    let expiresAt: Timestamp?
    /// The end of the time that the price pays: later than `expiresAt` for a period that the store has cut short.
    let fundedUntil: Timestamp?
    /// The end of the grace period after it; nil if there is none.
    let graceEndsAt: Timestamp?
    /// The date at which the store took the goods back; nil if it left them.
    let revokedAt: Timestamp?
    let paidBack: PaidBack?

    init(_ transaction: RedeemedTransaction) {
        let facts = transaction.facts
        terms = PurchasePeriod.Terms(facts)
        isTrial = terms.isTrial
        isRenewal = facts.text(.transactionReason) == TransactionReason.renewal.rawValue
        subject = FigureSubject(
            app: transaction.appNumber, origin: transaction.origin, product: transaction.productIdentifier,
            storefront: facts.text(.storefront))
        identifier = ByteKey(transaction.transactionIdentifier)
        original = ByteKey(transaction.originalTransactionIdentifier)
        quantity = transaction.quantity
        let currency = facts.text(.currency).flatMap(FigureSubject.code)
        func plausible(_ amount: Int64?) -> Price? {
            guard let amount, let currency, (0..<Self.maximumPrice).contains(amount) else { return nil }
            return Price(milliunits: amount, currency: currency.text)
        }
        price = plausible(transaction.paidAmount)
        // RevenueCat's MRR chart has the price of an introductory or promotional period as long as it lasts
        // (revenuecat.com/docs/dashboard-and-metrics/charts/monthly-recurring-revenue-mrr-chart, "Calculation"). Google's price of a plan
        // "does not take into account discounts" (SubscriptionPurchaseV2, `recurringPrice`). Apple states none.
        let isOffer = facts[.offerDiscountType] != nil
        recurringPrice = (isOffer ? nil : plausible(facts.integer(.recurringPrice))) ?? price
        plan = [ByteKey(transaction.productIdentifier), ByteKey(facts.text(.basePlanId) ?? "")]
        // Less than the plan's price is paid for less than its time, also where Google states no phase of a proration.
        let isPart =
            !isOffer && facts[.recurringPrice] != nil && price?.milliunits ?? .max < recurringPrice?.milliunits ?? 0
        let mode = facts.text(.replacementMode)
        // "The user is charged full price of new plan and is given a full billing cycle of subscription, plus remaining prorated time from
        // the old plan" (BillingFlowParams.SubscriptionUpdateParams.ReplacementMode, CHARGE_FULL_PRICE), also as a prorated phase.
        hasCarriedTime = mode == "CHARGE_FULL_PRICE" && !isPart
        // "Without proration", a new plan begins at once and is charged at the next renewal of the old one
        // (developer.android.com/google/play/billing/subscriptions, "Replacement modes").
        let isRestOfOther = mode == "WITHOUT_PRORATION"
        isProrated = !hasCarriedTime && (facts.bool(.isProrated) == true || isPart || isRestOfOther)
        isPaidByOther = mode == "WITH_TIME_PRORATION"
        isFreeMove = terms.previous != nil && identifier == original && !isOffer && price?.milliunits == 0
        let expiresAt = transaction.subscribedUntil
        self.expiresAt = expiresAt.map(Self.bounded)
        fundedUntil = expiresAt.map { Self.bounded(max($0, facts.date(.expiresDate) ?? $0)) }
        graceEndsAt = expiresAt == nil ? nil : transaction.graceEndsAt.map(Self.bounded)
        // A restored purchase has another identifier, and the purchase date of its original.
        let isRestored = expiresAt == nil && identifier != original
        purchaseDate = Self.bounded(
            (isRestored ? facts.date(.originalPurchaseDate) : nil) ?? transaction.purchaseDate)
        revokedAt = transaction.revocationDate.map(Self.bounded)
        paidBack = transaction.paidBack
    }

    /// Limits a date to the years from 1970 to 9999, which a calendar day supports.
    fileprivate static func bounded(_ date: Timestamp) -> Timestamp {
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
