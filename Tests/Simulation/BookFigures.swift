import AppStore
import Entitlements
import Features
import Proofs
import Vocabulary

/// The figures as they follow from the store's books alone, by the definitions of `Documentation/Figures.md`.
struct BookFigures {
    let days: [CalendarDay]
    /// The sales, each non-consumable once, on the day of the original purchase.
    private let sales: [SimulatedSale]
    private let periods: [BookedPeriod]
    /// The first sale of each app to each user.
    private let firsts: [SimulatedSale]
    private let owners: [TransactionKey: User]

    /// - Parameters:
    ///   - history: All that was sold, in order.
    ///   - graceEnds: The ends of grace periods, by the transactions before them.
    ///   - owners: The owners of the transactions.
    init(
        _ history: [SimulatedSale],
        graceEnds: [TransactionKey: Timestamp],
        owners: [TransactionKey: User],
        from first: CalendarDay,
        to today: CalendarDay
    ) {
        days = (first.daysSince1970...today.daysSince1970).map(CalendarDay.init(daysSince1970:))
        self.owners = owners
        let bought = history.filter { $0.ownership == .purchased }
        sales = bought.filter {
            $0.type != .nonConsumable || $0.transactionIdentifier == $0.originalTransactionIdentifier
        }
        let subscriptions = Dictionary(
            grouping: bought.filter { $0.type == .autoRenewableSubscription }, by: \.originalKey)
        periods = subscriptions.values.flatMap { BookedPeriod.periods(of: $0, graceEnds: graceEnds) }
        let customers = Dictionary(grouping: sales) { [$0.app.bundleIdentifier, owners[$0.key]?.name] }
        firsts = customers.values.compactMap { sales in
            sales.min {
                ($0.purchaseDate, $0.transactionIdentifier) < ($1.purchaseDate, $1.transactionIdentifier)
            }
        }
    }

    /// The series of a figure for each day, by their names.
    func answer(_ figure: Figure) -> BookAnswer {
        let paid = sales.filter { !$0.isTrial }
        let refunded = paid.filter { $0.refundedAt != nil }
        let (subscribed, trials) = (periods.filter { !$0.isTrial }, periods.filter(\.isTrial))
        var answer = BookAnswer(days: days)
        switch figure {
        case .units: for sale in paid { answer.add(Int64(sale.quantity), to: .values, sale, sale.day) }
        case .transactions: for sale in paid { answer.add(1, to: .values, sale, sale.day) }
        case .withoutPrice: break
        case .revenue: for sale in paid { answer.addMoney(sale.price.milliunits, to: .values, sale, sale.day) }
        case .refunds: for sale in refunded { answer.add(1, to: .values, sale, sale.refundDay) }
        case .refundedRevenue:
            for sale in refunded { answer.addMoney(sale.price.milliunits, to: .values, sale, sale.refundDay) }
        case .refundRate:
            for sale in refunded { answer.add(1, to: .values, sale, sale.day) }
            for sale in paid { answer.add(1, to: .denominators, sale, sale.day) }
        case .newCustomers: for sale in firsts { answer.add(1, to: .values, sale, sale.day) }
        case .activeSubscriptions: addLevel(of: subscribed, to: &answer)
        case .activeTrials: addLevel(of: trials, to: &answer)
        case .monthlyRevenue: addLevel(of: subscribed, isMoney: true, to: &answer)
        case .renewals:
            for period in subscribed where period.predecessor != nil {
                answer.add(1, to: .values, period.sale, period.sale.day)
            }
        case .newTrials: for trial in trials { answer.add(1, to: .values, trial.sale, trial.sale.day) }
        case .conversions:
            for period in subscribed where period.converted != nil {
                answer.add(1, to: .values, period.sale, period.sale.day)
            }
        case .trialConversion:
            for trial in subscribed.compactMap(\.converted) { answer.add(1, to: .values, trial, trial.day) }
            for trial in trials { answer.add(1, to: .denominators, trial.sale, trial.sale.day) }
        case .churn: addChurn(of: subscribed, to: &answer)
        case .subscriptionMovement: addMovement(of: subscribed, isMoney: false, to: &answer)
        case .monthlyRevenueMovement: addMovement(of: subscribed, isMoney: true, to: &answer)
        case .annualRevenue: addLevel(of: subscribed, isMoney: true, times: 12, to: &answer)
        case .lifetimeValue: addLifetimeValue(of: paid, refunded, to: &answer)
        case .revenuePerPayer, .retention: break
        }
        return answer
    }

    /// The payments less the refunds until each day, and the first payments.
    private func addLifetimeValue(of paid: [SimulatedSale], _ refunded: [SimulatedSale], to answer: inout BookAnswer) {
        let payers = Dictionary(grouping: paid.filter { $0.price.milliunits > 0 }) {
            [$0.app.bundleIdentifier, owners[$0.key]?.name, $0.price.currency]
        }
        let firsts = payers.values.compactMap { $0.min { $0.purchaseDate < $1.purchaseDate } }
        for day in days {
            for sale in paid where sale.day <= day {
                answer.addMoney(sale.price.milliunits, to: .values, sale, day)
            }
            for sale in refunded where sale.refundDay.map({ $0 <= day }) ?? false {
                answer.addMoney(-sale.price.milliunits, to: .values, sale, day)
            }
            for sale in firsts where sale.day <= day { answer.addMoney(1, to: .denominators, sale, day) }
        }
    }

    private func addLevel(
        of periods: [BookedPeriod], isMoney: Bool = false, times factor: Int64 = 1, to answer: inout BookAnswer
    ) {
        for period in periods {
            for day in days where period.isActive(atEndOf: day, today: today) {
                isMoney
                    ? answer.addMoney(factor * period.sale.monthlyPrice, to: .values, period.sale, day)
                    : answer.add(1, to: .values, period.sale, day)
            }
        }
    }

    private func addChurn(of subscribed: [BookedPeriod], to answer: inout BookAnswer) {
        for period in subscribed {
            if let day = period.churnDay(today: today) { answer.add(1, to: .values, period.sale, day) }
            if period.predecessor == nil, period.wasPaidBefore {
                answer.add(-1, to: .values, period.sale, period.sale.day)
            }
            for day in days where period.isActive(atEndOf: day, today: today) && day < today {
                answer.add(1, to: .denominators, period.sale, day.adding(days: 1))
            }
        }
    }

    private func addMovement(of subscribed: [BookedPeriod], isMoney: Bool, to answer: inout BookAnswer) {
        func add(_ sign: Int64, _ part: String, _ sale: SimulatedSale, _ day: CalendarDay) {
            for series in [BookAnswer.Part.values, .part(part)] {
                isMoney
                    ? answer.addMoney(sign * sale.monthlyPrice, to: series, sale, day)
                    : answer.add(sign, to: series, sale, day)
            }
        }
        for period in subscribed {
            if let before = period.predecessor {
                add(-1, "changed", before, period.sale.day)
                add(1, "changed", period.sale, period.sale.day)
            } else {
                add(1, period.wasPaidBefore ? "resubscribed" : "new", period.sale, period.sale.day)
            }
            if let day = period.churnDay(today: today) { add(-1, "churned", period.sale, day) }
        }
    }

    private var today: CalendarDay { days[days.count - 1] }
}
