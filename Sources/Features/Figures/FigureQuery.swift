import Proofs

/// A query for a figure.
package struct FigureQuery: Hashable, Sendable {
    /// The dimension of the series, besides the currency of a figure that is money.
    package enum Group: String, CaseIterable, Sendable {
        case app
        case product
        case storefront
        case origin
    }

    /// The environments: purchases with real money, and test purchases.
    package enum Environment: String, CaseIterable, Sendable {
        case production
        case sandbox

        /// The origins of the environment.
        package var origins: Set<Origin> {
            switch self {
            case .production: [.appleProduction, .localProduction]
            case .sandbox: [.appleSandbox, .localSandbox, .xcode]
            }
        }
    }

    /// The largest number of periods in an answer: ten years of days.
    package static let maximumPeriods = 3_660
    /// The largest number of points in an answer.
    package static let maximumPoints = 50_000
    /// The default number of days of an answer, including the last one.
    package static let standardDays: Int64 = 28

    package let figure: Figure
    package let environment: Environment
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
        storefront: String? = nil
    ) throws(FigureError) {
        guard first <= last else { throw .timeInvalid }
        guard interval.periods(from: first, to: last, upTo: Self.maximumPeriods) != nil else { throw .tooManyPoints }
        guard !(product != nil || group == .product) || !(storefront != nil || group == .storefront) else {
            throw .breakdownUnknown
        }
        (self.figure, self.environment, self.interval) = (figure, environment, interval)
        (self.first, self.last, self.group) = (first, last, group)
        (self.app, self.product, self.storefront) = (app, product, storefront)
    }

    var breakdown: FigureBreakdown {
        if product != nil || group == .product { return .product }
        return storefront != nil || group == .storefront ? .storefront : .all
    }
}
