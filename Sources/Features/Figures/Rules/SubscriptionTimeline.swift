import Entitlements
import Proofs

/// The periods of one subscription in their order, also if it goes on under another original transaction. The start of the next period
/// ends the previous one.
struct SubscriptionTimeline {
    /// The longest gap between two periods that is ignored, because the App Store rounds dates.
    private static let toleranceSeconds: Int64 = 60

    fileprivate struct Period {
        let transaction: FigureTransaction
        var start: Timestamp
        var end: Timestamp
        /// True if a revocation determines the end.
        var isRefunded: Bool
        /// True for a free trial, also after the change to another product in which nothing was paid.
        var isTrial: Bool
        /// The monthly revenue; nil without a price, or in a trial.
        var monthly: Price?
        /// The purchases of seats for the rest of the period.
        var additions: [Period] = []
        /// True for a later part of a period, which has more seats or fewer.
        var isLaterPart = false

        init(_ transaction: FigureTransaction, expiresAt: Timestamp) {
            self.transaction = transaction
            start = transaction.purchaseDate
            let stated = max(expiresAt, transaction.graceEndsAt ?? expiresAt)
            end = min(stated, transaction.revokedAt ?? stated)
            isRefunded = end < stated
            isTrial = transaction.terms.isTrial
            length = SubscriptionLength(from: start, until: transaction.fundedUntil ?? expiresAt)
        }

        /// True if the trial before it goes on with another product or plan.
        var continuesTrial: Bool { isTrial && !transaction.terms.isTrial }

        /// The length of the period, or of its plan.
        var length: SubscriptionLength

        /// True if the customer has paid for the period, as far as its price is known.
        var isPaid: Bool { transaction.price.map { $0.milliunits > 0 } ?? !isTrial }

        /// True if this one counts of two periods that begin at the same moment: the other was upgraded, is the
        /// renewal that a purchase has replaced, or ends earlier.
        func takesPrecedence(over other: Period) -> Bool {
            let (isUpgraded, otherIsUpgraded) = (transaction.terms.isUpgraded, other.transaction.terms.isUpgraded)
            guard isUpgraded == otherIsUpgraded else { return otherIsUpgraded }
            // The renewal is told before the upgrade, so without `isUpgraded`. "If a customer upgrades an auto-renewable subscription, the
            // upgrade is effective immediately and the transactionReason is PURCHASE" (App Store Server API, `transactionReason`).
            let (isRenewal, otherIsRenewal) = (transaction.isRenewal, other.transaction.isRenewal)
            return isRenewal == otherIsRenewal ? other.end < end : otherIsRenewal
        }

        var isKnownToBePaid: Bool { transaction.price.map { $0.milliunits > 0 } ?? false }

        /// The length that the price of the plan pays, at the rate of this period.
        var lengthOfPlan: SubscriptionLength {
            guard let price = transaction.price?.milliunits, let whole = transaction.recurringPrice?.milliunits,
                0 < price, price < whole, let end = transaction.fundedUntil
            else { return length }
            let start = transaction.purchaseDate
            let (product, isTooLarge) = (end.secondsSince1970 - start.secondsSince1970)
                .multipliedReportingOverflow(by: whole)
            guard product > 0, !isTooLarge else { return length }
            return SubscriptionLength(from: start, until: start.adding(seconds: min(product / price, Self.longest)))
        }

        /// The length that the price of the plan pays, if the rest of a replaced period pays this one at the same rate.
        func length(forRestOf replaced: Period) -> SubscriptionLength? {
            let start = transaction.purchaseDate.secondsSince1970
            guard transaction.isPaidByOther, let price = transaction.recurringPrice,
                let old = replaced.transaction.price, old.currency == price.currency, old.milliunits > 0,
                let end = transaction.fundedUntil?.secondsSince1970, end > start,
                let paidUntil = replaced.transaction.fundedUntil?.secondsSince1970, paidUntil > start
            else { return nil }
            let whole = paidUntil - replaced.transaction.purchaseDate.secondsSince1970
            let rest = Double(old.milliunits) * Double(paidUntil - start) / Double(whole)
            let seconds = min(Double(price.milliunits) / rest * Double(end - start), Double(Self.longest))
            return SubscriptionLength(
                from: transaction.purchaseDate, until: transaction.purchaseDate.adding(seconds: Int64(seconds)))
        }

        /// The length without the time that the rest of a replaced period pays.
        func length(after replaced: Period) -> SubscriptionLength {
            let start = transaction.purchaseDate.secondsSince1970
            guard let price = transaction.price?.milliunits, let old = replaced.transaction.price?.milliunits,
                let end = transaction.fundedUntil?.secondsSince1970, price > 0, end > start, !hasLengthOfCalendar,
                let paidUntil = replaced.transaction.fundedUntil?.secondsSince1970, paidUntil > start
            else { return length }
            let whole = paidUntil - replaced.transaction.purchaseDate.secondsSince1970
            let carried = Double(old) / Double(price) * Double(paidUntil - start) / Double(whole)
            return SubscriptionLength(
                from: transaction.purchaseDate,
                until: transaction.purchaseDate.adding(seconds: Int64(Double(end - start) / (1 + carried))))
        }

        /// True if the period is a whole week, month or year, so that nothing was carried.
        private var hasLengthOfCalendar: Bool {
            let start = transaction.purchaseDate
            return ["P1W", "P4W", "P1M", "P2M", "P3M", "P6M", "P1Y"].compactMap { SubscriptionPeriod($0) }.contains {
                let whole = start.adding($0, dayOfMonth: start.dayOfMonth).secondsSince1970
                return abs(whole - (transaction.fundedUntil?.secondsSince1970 ?? whole)) <= 86_400
            }
        }

        /// A year, in seconds. No plan is longer.
        private static let longest: Int64 = 366 * 86_400

        /// Sets the monthly revenue, also of added seats.
        mutating func setPrice() {
            monthly =
                isTrial
                ? nil
                : transaction.recurringPrice.map {
                    Price(milliunits: length.monthly($0.milliunits), currency: $0.currency)
                }
            for index in additions.indices { additions[index].setPrice() }
        }

        /// Ends a revoked period when it would have ended.
        mutating func outlastRevocation(expiresAt: Timestamp) {
            (end, isRefunded) = (max(expiresAt, transaction.graceEndsAt ?? expiresAt), false)
        }

        mutating func end(by next: Period) {
            if next.start < end { (end, isRefunded) = (next.start, false) }
            for index in additions.indices { additions[index].end(by: next) }
        }

        /// The period in parts, each with the monthly revenue of the seats that the customer has in it.
        var parts: [Period] {
            guard !additions.isEmpty, !isTrial else { return [self] }
            let purchases = [self] + additions
            let moments = Set(purchases.flatMap { [$0.start, $0.end] }).sorted()
            var parts: [Period] = []
            for (start, end) in zip(moments, moments.dropFirst()) {
                let valid = purchases.filter { $0.start <= start && end <= $0.end }
                guard !valid.isEmpty else { continue }
                var part = self
                (part.start, part.end, part.isLaterPart) = (start, end, !parts.isEmpty)
                part.isRefunded = valid.contains { $0.end == end && $0.isRefunded }
                part.monthly = Period.sum(valid.compactMap(\.monthly))
                parts.append(part)
            }
            return parts
        }

        /// The sum of the prices in the currency of the first.
        private static func sum(_ prices: [Price]) -> Price? {
            guard let currency = prices.first?.currency else { return nil }
            let amounts = prices.filter { $0.currency == currency }.map(\.milliunits)
            return Price(milliunits: amounts.reduce(0, +), currency: currency)
        }

        /// True if the next period follows without a gap.
        func continues(into next: Period) -> Bool { next.start <= end.adding(seconds: toleranceSeconds) }
    }

    private let periods: [Period]
    /// The transactions with what the timeline says of them.
    let readings: [ByteKey: Reading]

    /// The place of a transaction in a timeline.
    struct Reading {
        /// The moment at which it stopped counting, for whichever reason.
        var end: Timestamp
        /// The monthly revenue; nil without a price, or in a trial.
        let monthly: Price?
        let isTrial: Bool
        /// True for the first payment after a trial.
        var isConversion = false
    }

    /// The statements of the timelines about a user's transactions, by their numbers.
    static func readings(of bought: [RedeemedTransaction]) -> [Int64: Reading] {
        var readings: [Int64: Reading] = [:]
        for purchase in bought.charges.bySubscription.values {
            let charges = purchase.map { FigureTransaction($0) }
            let timeline = SubscriptionTimeline(charges.filter { $0.expiresAt != nil }.sorted())
            for (transaction, charge) in zip(purchase, charges) {
                readings[transaction.sequence] = timeline.readings[charge.identifier]
            }
        }
        return readings
    }

    /// - Parameter transactions: The periods of one purchase, or of all parts of a subscription that has moved, in order.
    init(_ transactions: [FigureTransaction]) {
        var periods: [Period] = []
        var readings: [ByteKey: Reading] = [:]
        var seats = SeatAdditions()
        for transaction in transactions {
            guard let expiresAt = transaction.expiresAt else { continue }
            var period = Period(transaction, expiresAt: expiresAt)
            // An upgrade is no revocation, though the App Store may state it as one before its new period is known.
            if transaction.terms.isUpgraded, transaction.identifier == transactions.last?.identifier {
                period.outlastRevocation(expiresAt: expiresAt)
            }
            let product = transaction.subject.product
            let isAddition = seats.adds(
                transaction.terms.isAdditional, to: product.text, from: transaction.purchaseDate, until: expiresAt)
            // A period that another one precludes has lasted no time.
            readings[transaction.identifier] = Reading(end: period.start, monthly: nil, isTrial: period.isTrial)
            if isAddition, let base = periods.lastIndex(where: { $0.transaction.subject.product == product }) {
                periods[base].additions.append(period)
            } else if let last = periods.indices.last, periods[last].start == period.start {
                if period.takesPrecedence(over: periods[last]) { periods[last] = period }
            } else {
                periods.append(period)
            }
        }
        periods.removeAll { $0.end <= $0.start && $0.additions.isEmpty }
        for index in periods.indices.dropLast() { periods[index].end(by: periods[index + 1]) }
        Self.setPrices(of: &periods)
        for period in periods.flatMap({ [$0] + $0.additions }) {
            readings[period.transaction.identifier] = Reading(
                end: period.end, monthly: period.monthly, isTrial: period.isTrial)
        }
        self.periods = periods.flatMap(\.parts)
        var isAfterTrial = false
        for period in self.periods where !period.isLaterPart {
            if period.isTrial {
                isAfterTrial = true
            } else if isAfterTrial, period.isPaid {
                readings[period.transaction.identifier]?.isConversion = true
                isAfterTrial = false
            }
        }
        self.readings = readings
    }

    /// Sets the monthly revenue of periods. It follows from the price and the length of the plan: the first period after a change of the
    /// plan has the price and the length of what the value of the old plan pays.
    ///
    /// Google states no length of a plan. It is that of another period of the plan, or else the time that its price pays at the rate of the
    /// rest of the old plan, or else that of the plan before, or else the time that its price pays at the rate of this period.
    private static func setPrices(of periods: inout [Period]) {
        for index in periods.indices {
            let transaction = periods[index].transaction
            if transaction.isFreeMove, index > 0, periods[index - 1].continues(into: periods[index]) {
                // It goes on at the price, or as the trial, that it had before.
                (periods[index].isTrial, periods[index].monthly) = (
                    periods[index - 1].isTrial, periods[index - 1].monthly
                )
                continue
            }
            guard transaction.isProrated || transaction.hasCarriedTime else {
                periods[index].setPrice()
                continue
            }
            // A trial has a length of its own.
            let whole = periods.first {
                $0.transaction.plan == transaction.plan && !$0.transaction.isProrated
                    && !$0.transaction.hasCarriedTime && !$0.isTrial
            }
            if transaction.isProrated {
                let before = index > 0 ? periods[index - 1] : nil
                if let before, before.isTrial, before.continues(into: periods[index]), !periods[index].isKnownToBePaid {
                    periods[index].isTrial = true
                }
                // That of an add-on ends with such a charge (subscription-with-addons, "Rules applicable for items").
                let isFullPrice = transaction.price.map { $0 == transaction.recurringPrice } ?? false
                let paid = before.flatMap { $0.isTrial || isFullPrice ? nil : $0 }
                periods[index].length =
                    whole?.length ?? before.flatMap { periods[index].length(forRestOf: $0) } ?? paid?.length
                    ?? periods[index].lengthOfPlan
            } else if index > 0, !periods[index - 1].isTrial {
                periods[index].length = whole?.length ?? periods[index].length(after: periods[index - 1])
            }
            periods[index].setPrice()
        }
    }

    var sums: FigureSums {
        var sums = FigureSums()
        var trial: Period?
        var wasPaid = false
        for (index, period) in periods.enumerated() {
            let previous = index > 0 && periods[index - 1].continues(into: period) ? periods[index - 1] : nil
            let next = index + 1 < periods.count ? periods[index + 1] : nil
            if period.isTrial {
                if let previous, period.continuesTrial {
                    sums.add(-1, .trials, of: previous, at: period.start)
                    sums.add(1, .trials, of: period, at: period.start)
                } else {
                    sums.add(1, .trialsNew, of: period, at: period.start)
                    trial = period
                }
            } else {
                begin(period, after: previous, wasPaid: wasPaid, &sums)
                // A conversion is a payment. The value of a replaced plan is none.
                if let begun = trial, period.isPaid {
                    sums.add(1, .conversions, of: period, at: period.start)
                    sums.add(1, .convertedTrials, of: begun, at: begun.start)
                    trial = nil
                }
                wasPaid = true
            }
            end(period, before: next, &sums)
        }
        return sums
    }

    private func begin(_ period: Period, after previous: Period?, wasPaid: Bool, _ sums: inout FigureSums) {
        if let previous, !previous.isTrial {
            if !period.isLaterPart, !period.transaction.isFreeMove {
                sums.add(1, .renewals, of: period, at: period.start)
            }
            sums.add(-1, .subscriptionsChanged, .revenueChanged, of: previous, at: period.start)
            sums.add(1, .subscriptionsChanged, .revenueChanged, of: period, at: period.start)
        } else if wasPaid {
            sums.add(1, .subscriptionsResubscribed, .revenueResubscribed, of: period, at: period.start)
        } else {
            sums.add(1, .subscriptionsNew, .revenueNew, of: period, at: period.start)
        }
    }

    private func end(_ period: Period, before next: Period?, _ sums: inout FigureSums) {
        let following = next.flatMap { period.continues(into: $0) ? $0 : nil }
        // No renewal moves an end after which the customer has come back on the same day.
        let isSettled = period.isRefunded || next.map { CalendarDay($0.start) == CalendarDay(period.end) } ?? false
        if period.isTrial {
            if let following {
                guard !following.continuesTrial else { return }
                sums.add(1, .trialsEnded, of: period, at: following.start)
            } else {
                sums.add(1, isSettled ? .trialsEnded : .trialsExpired, of: period, at: period.end)
            }
        } else if following == nil || following?.isTrial == true {
            if isSettled {
                sums.add(1, .subscriptionsRefunded, .revenueRefunded, of: period, at: period.end)
            } else {
                sums.add(1, .subscriptionsExpired, .revenueExpired, of: period, at: period.end)
            }
        }
    }
}

extension FigureSums {
    /// Counts a period.
    ///
    /// - Parameter revenue: The sum of its monthly revenue, if it has one.
    fileprivate mutating func add(
        _ sign: Int64,
        _ metric: FigureMetric,
        _ revenue: FigureMetric? = nil,
        of period: SubscriptionTimeline.Period,
        at moment: Timestamp
    ) {
        add(sign, metric, of: period.transaction.subject, on: CalendarDay(moment))
        guard let revenue, let monthly = period.monthly else { return }
        add(
            sign * monthly.milliunits, revenue, of: period.transaction.subject, on: CalendarDay(moment),
            in: ByteKey(monthly.currency))
    }

    /// Adds to a sum, and to the level that it changes.
    package mutating func add(
        _ amount: Int64,
        _ metric: FigureMetric,
        of subject: FigureSubject,
        on day: CalendarDay,
        in currency: ByteKey = ""
    ) {
        add(amount, to: FigureKey(day: day, metric: metric, subject: subject, currency: currency))
        guard let net = metric.net else { return }
        add(net.sign * amount, to: FigureKey(day: day, metric: net.metric, subject: subject, currency: currency))
    }
}

/// The length of a subscription's period, which converts its price to a monthly price.
package enum SubscriptionLength: CaseIterable, Sendable {
    case day, threeDays, week, twoWeeks, month, twoMonths, threeMonths, sixMonths, year

    /// The longest period of each length, in days, and the factor of the monthly revenue: the price times `numerator`, divided by
    /// `denominator`.
    private var rule: (days: Int64, numerator: Int64, denominator: Int64) {
        switch self {
        case .day: (1, 30, 1)
        case .threeDays: (4, 10, 1)
        case .week: (10, 4, 1)
        case .twoWeeks: (20, 2, 1)
        case .month: (45, 1, 1)
        case .twoMonths: (75, 1, 2)
        case .threeMonths: (135, 1, 3)
        case .sixMonths: (270, 1, 6)
        case .year: (.max, 1, 12)
        }
    }

    /// The longest period of each length in the App Store's sandbox, in seconds. A month takes five minutes there.
    private static let acceleratedLimits: [(seconds: Int64, length: SubscriptionLength)] = [
        (240, .week), (450, .month), (750, .twoMonths), (1_350, .threeMonths), (2_700, .sixMonths), (43_200, .year),
    ]

    /// The length of a period.
    ///
    /// A period of less than twelve hours is from a sandbox, whose time runs faster.
    package init(from start: Timestamp, until end: Timestamp) {
        let seconds = end.secondsSince1970.subtractingReportingOverflow(start.secondsSince1970).partialValue
        let days = (seconds + 43_200) / 86_400
        self =
            Self.acceleratedLimits.first { seconds <= $0.seconds }?.length
            ?? Self.allCases.first { days <= $0.rule.days } ?? .year
    }

    /// The monthly revenue, in milliunits, rounded down.
    package func monthly(_ price: Int64) -> Int64 { price * rule.numerator / rule.denominator }
}
