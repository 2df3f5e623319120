/// The formula of a figure from the sums.
struct FigureFormula {
    enum Kind: String {
        /// The sum of the days of a period.
        case sum
        /// The sum of all days up to the end of a period.
        case level
        /// A sum divided by another.
        case rate
        /// A sum with its parts.
        case movement
        /// A sum of money divided by a number of users.
        case average
        /// The users of each month, and the part of them that stayed, by the months after. It is read from sums of its own.
        case cohort
    }

    /// A sum of metrics, some of them subtracted.
    struct Sum {
        let added: [FigureMetric]
        var subtracted: [FigureMetric] = []

        var metrics: [FigureMetric] { added + subtracted }
    }

    let kind: Kind
    let sum: Sum
    /// The denominator of a rate.
    var denominator: Sum?
    /// True if the denominator is the level at the start of the period.
    var isOfLevel = false
    var parts: [(name: String, sum: Sum)] = []
    /// True if the amounts are milliunits of a currency.
    var isMoney = false
    /// True if both sums are those of all days up to the end of a period.
    var isCumulative = false
    /// The number of times that the sum counts.
    var factor: Int64 = 1

    var metrics: Set<FigureMetric> {
        Set(sum.metrics + (denominator?.metrics ?? []) + parts.flatMap(\.sum.metrics))
    }

    /// True if sums of the days before the first period are needed.
    var needsEarlierDays: Bool { kind == .level || isOfLevel || isCumulative }
}

extension Figure {
    /// `sum`, `level`, `rate`, `movement`, `average` or `cohort`.
    package var kind: String { formula.kind.rawValue }

    /// True if the values are milliunits of a currency.
    package var isMoney: Bool { formula.isMoney }

    /// True if each value has a denominator.
    package var isQuotient: Bool { formula.denominator != nil || formula.kind == .cohort }

    var formula: FigureFormula {
        switch self {
        case .units: .sum(.units)
        case .transactions: .sum(.transactions)
        case .withoutPrice: .sum(.withoutPrice)
        case .revenue: .sum(.revenue, isMoney: true)
        case .refunds: .sum(.refunds)
        case .refundedRevenue: .sum(.refundedRevenue, isMoney: true)
        case .newCustomers: .sum(.newCustomers)
        case .renewals: .sum(.renewals)
        case .newTrials: .sum(.trialsNew)
        case .conversions: .sum(.conversions)
        case .refundRate: .rate(.refundedTransactions, by: .transactions)
        case .trialConversion: .rate(.convertedTrials, by: .trialsNew)
        case .churn:
            FigureFormula(
                kind: .rate,
                sum: .init(
                    added: [.subscriptionsRefunded, .subscriptionsExpired], subtracted: [.subscriptionsResubscribed]),
                denominator: .init(added: [.subscriptions]), isOfLevel: true)
        case .activeSubscriptions: FigureFormula(kind: .level, sum: .init(added: [.subscriptions]))
        case .activeTrials: FigureFormula(kind: .level, sum: .init(added: [.trials]))
        case .monthlyRevenue: FigureFormula(kind: .level, sum: .init(added: [.monthlyRevenue]), isMoney: true)
        case .annualRevenue:
            FigureFormula(kind: .level, sum: .init(added: [.monthlyRevenue]), isMoney: true, factor: 12)
        case .revenuePerPayer:
            FigureFormula(
                kind: .average, sum: .init(added: [.revenue]), denominator: .init(added: [.payers]), isMoney: true)
        case .lifetimeValue:
            FigureFormula(
                kind: .average, sum: .init(added: [.revenue], subtracted: [.refundedRevenue]),
                denominator: .init(added: [.payersNew]), isMoney: true, isCumulative: true)
        case .retention: FigureFormula(kind: .cohort, sum: .init(added: []))
        case .subscriptionMovement:
            .movement(
                .subscriptionsNew, .subscriptionsResubscribed, .subscriptionsChanged,
                churned: [.subscriptionsRefunded, .subscriptionsExpired])
        case .monthlyRevenueMovement:
            .movement(
                .revenueNew, .revenueResubscribed, .revenueChanged, churned: [.revenueRefunded, .revenueExpired],
                isMoney: true)
        }
    }
}

extension FigureFormula {
    fileprivate static func sum(_ metric: FigureMetric, isMoney: Bool = false) -> FigureFormula {
        FigureFormula(kind: .sum, sum: Sum(added: [metric]), isMoney: isMoney)
    }

    fileprivate static func rate(_ numerator: FigureMetric, by denominator: FigureMetric) -> FigureFormula {
        FigureFormula(kind: .rate, sum: Sum(added: [numerator]), denominator: Sum(added: [denominator]))
    }

    fileprivate static func movement(
        _ new: FigureMetric,
        _ resubscribed: FigureMetric,
        _ changed: FigureMetric,
        churned: [FigureMetric],
        isMoney: Bool = false
    ) -> FigureFormula {
        FigureFormula(
            kind: .movement, sum: Sum(added: [new, resubscribed, changed], subtracted: churned),
            parts: [
                ("new", Sum(added: [new])), ("resubscribed", Sum(added: [resubscribed])),
                ("changed", Sum(added: [changed])), ("churned", Sum(added: [], subtracted: churned)),
            ], isMoney: isMoney)
    }
}
