import Ledger
import Proofs

/// A daily sum in the ledger. The raw value is the name in the ledger.
package enum FigureMetric: String, CaseIterable, Sendable, SQLConvertible {
    /// The quantities of the purchases.
    case units
    /// The transactions of the purchases.
    case transactions
    /// The transactions for which the App Store has stated no price.
    case withoutPrice = "without_price"
    /// Money: the prices, on the day of the purchase.
    case revenue
    /// The refunded transactions, on the day of the refund.
    case refunds
    /// Money: the refunded amounts, on the day of the refund.
    case refundedRevenue = "refunded_revenue"
    /// The refunded transactions, on the day of the purchase.
    case refundedTransactions = "refunded_transactions"
    case newCustomers = "new_customers"
    /// The users who paid in a month, by currency, on the day of their first payment in it.
    case payers
    /// The users who paid, by currency, on the day of their first payment.
    case payersNew = "payers_new"
    case renewals
    /// First paid periods of purchases that had a trial, on the day of the payment.
    case conversions
    /// The same, on the day on which the trial began.
    case convertedTrials = "converted_trials"

    /// Trials that began, less those that ended.
    case trials
    case trialsNew = "trials_new"
    /// Ends of trials by a payment or a revocation, or before another period of the same day.
    case trialsEnded = "trials_ended"
    /// Ends of trials without a following period so far.
    case trialsExpired = "trials_expired"

    /// The change of the active subscriptions: new, resubscribed and changed, less refunded and expired.
    case subscriptions
    case subscriptionsNew = "subscriptions_new"
    case subscriptionsResubscribed = "subscriptions_resubscribed"
    /// Changes from one product or storefront to another: -1 and 1.
    case subscriptionsChanged = "subscriptions_changed"
    /// Ends of paid periods by a refund, or before another period of the same day.
    case subscriptionsRefunded = "subscriptions_refunded"
    /// Ends of paid periods without a directly following period.
    case subscriptionsExpired = "subscriptions_expired"

    // Money: the monthly revenue of the same subscriptions.
    case monthlyRevenue = "mrr"
    case revenueNew = "mrr_new"
    case revenueResubscribed = "mrr_resubscribed"
    case revenueChanged = "mrr_changed"
    case revenueRefunded = "mrr_refunded"
    case revenueExpired = "mrr_expired"

    /// True if the sum is of an end that a later statement may move. It is included when its day is over.
    var isAnticipated: Bool {
        switch self {
        case .trialsExpired, .subscriptionsExpired, .revenueExpired: true
        default: false
        }
    }

    /// The sum that the metric changes, and in which direction: a level is read from one sum for each day, not from five.
    var net: (metric: FigureMetric, sign: Int64)? {
        switch self {
        case .trialsNew: (.trials, 1)
        case .trialsEnded, .trialsExpired: (.trials, -1)
        case .subscriptionsNew, .subscriptionsResubscribed, .subscriptionsChanged: (.subscriptions, 1)
        case .subscriptionsRefunded, .subscriptionsExpired: (.subscriptions, -1)
        case .revenueNew, .revenueResubscribed, .revenueChanged: (.monthlyRevenue, 1)
        case .revenueRefunded, .revenueExpired: (.monthlyRevenue, -1)
        default: nil
        }
    }

    /// The anticipated ends in a net sum; nil for another sum.
    var anticipatedPart: FigureMetric? { Self.allCases.first { $0.isAnticipated && $0.net?.metric == self } }
}

/// The key of a sum: a metric, on a day, for a product, a storefront and a currency.
package struct FigureKey: Hashable, Sendable {
    package let day: CalendarDay
    package let metric: FigureMetric
    package let subject: FigureSubject
    /// The ISO 4217 code; empty for a metric that is not money.
    package let currency: ByteKey
}

/// The app, origin, product and storefront of a sum.
package struct FigureSubject: Hashable, Sendable {
    /// The number of the app in the ledger.
    package let app: Int64
    package let origin: Origin
    package let product: ByteKey
    /// The ISO 3166-1 code of three letters; empty if none was stated.
    package let storefront: ByteKey

    /// The longest product identifier in a key, in bytes. Longer ones do not fit into a database key.
    static let maximumProductLength = 255

    /// - Parameter storefront: The stated storefront. A text other than three capital letters is ignored.
    package init(app: Int64, origin: Origin, product: String, storefront: String?) {
        self.app = app
        self.origin = origin
        self.product = product.utf8.count <= Self.maximumProductLength ? ByteKey(product) : ""
        self.storefront = storefront.flatMap(Self.code) ?? ""
    }

    /// A code of three capital letters.
    ///
    /// - Returns: Nil for another text.
    static func code(_ text: String) -> ByteKey? {
        text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
            ? ByteKey(text) : nil
    }
}

/// Sums by their keys. Sums of zero are left out.
package struct FigureSums: Hashable, Sendable {
    package private(set) var amounts: [FigureKey: Int64] = [:]

    package init() {}

    mutating func add(_ amount: Int64, to key: FigureKey) {
        let sum = amounts[key, default: 0] &+ amount
        amounts[key] = sum == 0 ? nil : sum
    }

    package mutating func add(_ other: FigureSums, times factor: Int64 = 1) {
        for (key, amount) in other.amounts { add(amount &* factor, to: key) }
    }
}
