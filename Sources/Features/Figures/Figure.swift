import Proofs
import Vocabulary

/// A figure of the service. The raw value is the name in the API.
package enum Figure: String, CaseIterable, Sendable {
    case units
    case transactions
    case withoutPrice = "without-price"
    case revenue
    case refunds
    case refundedRevenue = "refunded-revenue"
    case refundRate = "refund-rate"
    case newCustomers = "new-customers"
    case activeSubscriptions = "active-subscriptions"
    case subscriptionMovement = "subscription-movement"
    case renewals
    case churn
    case activeTrials = "active-trials"
    case newTrials = "new-trials"
    case conversions
    case trialConversion = "trial-conversion"
    case monthlyRevenue = "mrr"
    case monthlyRevenueMovement = "mrr-movement"
    case annualRevenue = "arr"
    case revenuePerPayer = "arppu"
    case lifetimeValue = "lifetime-value"
    case retention

    /// The definition; `Documentation/Figures.md` has more.
    package var definition: String {
        switch self {
        case .units: "The quantities of the purchases, renewals included. A free trial is no purchase."
        case .transactions: "The transactions of the purchases, renewals included."
        case .withoutPrice: "The transactions for which the store has stated no price. They are not in the revenue."
        case .revenue: "The prices of the transactions, before the store's commission, taxes and refunds."
        case .refunds: "The transactions of which a store paid money back, on the day of the refund."
        case .refundedRevenue: "The refunded amounts, on the day of the refund."
        case .refundRate:
            "The transactions of the period of which money was paid back since, divided by the transactions of the period."
        case .newCustomers: "The users with their first transaction in the app in the period, free trials included."
        case .activeSubscriptions: "The paid subscriptions at the end of the period, grace periods included."
        case .subscriptionMovement:
            "The change of the active subscriptions: new and resubscribed ones, less churned ones."
        case .renewals: "The paid periods that followed a paid period directly."
        case .churn:
            "The subscriptions that ended in the period, less those resubscribed, divided by those active when it began."
        case .activeTrials: "The free trials at the end of the period."
        case .newTrials: "The free trials that began in the period."
        case .conversions: "The first payments after a free trial, on the day of the payment."
        case .trialConversion:
            "The free trials that began in the period and were paid for since, divided by those that began."
        case .monthlyRevenue: "The prices of the active subscriptions at the end of the period, each for a month."
        case .monthlyRevenueMovement: "The change of the MRR: new, resubscribed and changed, less churned."
        case .annualRevenue: "The MRR at the end of the period, for twelve months."
        case .revenuePerPayer: "The revenue of the month, divided by the users who paid in it."
        case .lifetimeValue:
            "The revenue less refunds up to the end of the period, divided by the users who have paid until then."
        case .retention:
            "The users whose first payment was in the month, and how many of them paid or were subscribed some months after."
        }
    }

    /// True if the periods are always months: a user counts once in each.
    package var isOfMonths: Bool { self == .revenuePerPayer || self == .retention }
}

/// The dimension of a row of sums, besides app, origin and currency. The raw value is the number in the ledger.
enum FigureBreakdown: Int, CaseIterable {
    case all = 0
    case product = 1
    case storefront = 2
}

/// The length of a figure's periods.
package enum FigureInterval: String, CaseIterable, Sendable {
    case day
    /// From Monday to Sunday.
    case week
    case month

    func first(_ day: CalendarDay) -> CalendarDay {
        switch self {
        case .day: day
        case .week: day.firstOfWeek
        case .month: day.firstOfMonth
        }
    }

    /// The first day after the period that begins on a day.
    func end(_ first: CalendarDay) -> CalendarDay {
        switch self {
        case .day: first.adding(days: 1)
        case .week: first.adding(days: 7)
        case .month: first.firstOfNextMonth
        }
    }

    /// The periods from the first day to the last.
    ///
    /// - Returns: The first day of each period, in order; nil if there are more than `maximum`.
    func periods(from first: CalendarDay, to last: CalendarDay, upTo maximum: Int) -> [CalendarDay]? {
        var periods: [CalendarDay] = []
        var next = self.first(first)
        while next <= last {
            guard periods.count < maximum else { return nil }
            periods.append(next)
            next = end(next)
        }
        return periods
    }
}

package struct FigureQuery: Hashable, Sendable {
    /// The dimension of the series, besides the currency of a figure that is money.
    package enum Group: String, CaseIterable, Sendable {
        case app
        case product
        case storefront
        case store
        case origin

        /// The column of `figure`. The origin decides the store.
        var column: String {
            switch self {
            case .product: "product_id"
            case .store: "origin"
            case .app, .storefront, .origin: rawValue
            }
        }
    }

    /// The environments: purchases with real money, and test purchases.
    package enum Environment: String, CaseIterable, Sendable {
        case production
        case sandbox

        /// The origins of the environment that Till knows, and those that a service accepts besides.
        package func origins(_ accepted: Set<Origin> = []) -> Set<Origin> {
            accepted.union(Origin.allCases).filter { $0.isSandbox == (self == .sandbox) }
        }

        var isOfOrigin: String { Origin.condition(isSandbox: self == .sandbox) }
    }

    /// The largest number of periods in an answer: ten years of days.
    package static let maximumPeriods = 3_660
    /// The largest number of points in an answer.
    package static let maximumPoints = 50_000
    /// The default number of days of an answer, including the last one.
    package static let standardDays: Int64 = 28

    package let figure: Figure
    package let environment: Environment
    /// Months for a figure of months.
    package let interval: FigureInterval
    /// The first day. The answer covers its whole period.
    package let first: CalendarDay
    /// The last day. The answer covers its whole period, up to today.
    package let last: CalendarDay
    package let group: Group?
    /// Nil for all apps.
    package let app: String?
    /// Nil for all products.
    package let product: String?
    /// Nil for all storefronts.
    package let storefront: String?
    /// Nil for all stores.
    package let store: PurchaseStore?

    /// - Throws: `FigureError` if the time ends before it begins or has too many periods, or if the query has both a product
    ///   and a storefront.
    package init(
        _ figure: Figure,
        in environment: Environment = .production,
        by interval: FigureInterval = .day,
        from first: CalendarDay,
        to last: CalendarDay,
        group: Group? = nil,
        app: String? = nil,
        product: String? = nil,
        storefront: String? = nil,
        store: PurchaseStore? = nil
    ) throws(FigureError) {
        guard first <= last else { throw .timeInvalid }
        guard interval.periods(from: first, to: last, upTo: Self.maximumPeriods) != nil else { throw .tooManyPoints }
        let (isOfProduct, isOfStorefront) = (
            product != nil || group == .product, storefront != nil || group == .storefront
        )
        switch figure {
        // A user who buys two products pays once.
        case .revenuePerPayer, .lifetimeValue: guard !isOfProduct else { throw .breakdownUnknown }
        case .retention: guard !isOfProduct, !isOfStorefront, group == nil else { throw .breakdownUnknown }
        default: guard !isOfProduct || !isOfStorefront else { throw .breakdownUnknown }
        }
        self.figure = figure
        self.environment = environment
        self.interval = figure.isOfMonths ? .month : interval
        (self.first, self.last, self.group) = (first, last, group)
        (self.app, self.product, self.storefront, self.store) = (app, product, storefront, store)
    }

    var isOfOrigin: String { Origin.condition(isSandbox: environment == .sandbox, of: store) }

    var breakdown: FigureBreakdown {
        if product != nil || group == .product { return .product }
        return storefront != nil || group == .storefront ? .storefront : .all
    }
}

package enum FigureError: RuledError, Equatable {
    case unknown(String)
    case timeInvalid
    case tooManyPoints
    case breakdownUnknown

    package var rule: ErrorRule {
        switch self {
        case .unknown(let name):
            ErrorRule(
                "figureUnknown", .notFound,
                "Unknown figure \"\(name.prefix(100))\". Use one of "
                    + "\(Figure.allCases.map(\.rawValue).joined(separator: ", ")).",
                korean: "알 수 없는 지표입니다.")
        case .timeInvalid:
            ErrorRule(
                "figureTimeInvalid", .badRequest, "The first day must not be after the last day, or after today.",
                korean: "첫째 날은 마지막 날이나 오늘보다 늦을 수 없습니다.")
        case .tooManyPoints:
            ErrorRule(
                "figurePointsTooMany", .badRequest,
                "The answer would have too many points. Ask for a shorter time, for longer periods, or for one product.",
                korean: "값이 너무 많습니다. 더 짧은 기간이나 더 긴 단위, 또는 한 상품을 고르세요.")
        case .breakdownUnknown:
            ErrorRule(
                "figureBreakdownUnknown", .badRequest,
                "There are no sums for this choice. They are kept per product or per storefront; those of paying users "
                    + "(arppu, lifetime-value) not per product, and those of retention per app alone.",
                korean: "이 선택의 합계는 없습니다. 합계는 상품별로, 또는 스토어프런트별로 보관합니다. 결제한 고객의 지표는 상품별로, 유지율은 상품별로도 스토어프런트별로도 나눌 수 없습니다."
            )
        }
    }
}
