import AppStore
import Entitlements
import Proofs

/// A period of a subscription as the store's books have it, and its place among the others.
struct BookedPeriod {
    /// The App Store rounds dates: periods with a shorter gap follow each other directly.
    private static let gapSeconds: Int64 = 60

    let sale: SimulatedSale
    /// The moment at which the subscription stops to be active by it.
    private(set) var end: Timestamp
    /// True if a refund ended it.
    private(set) var isEndedByRefund: Bool
    /// True if another period follows directly, and is paid if this one was.
    private(set) var isFollowed = false
    /// True if another period begins on the day of its end, so that no renewal moves the end.
    private(set) var isSettled = false
    /// The paid period before it that it follows directly.
    private(set) var predecessor: SimulatedSale?
    /// True if an earlier period of the subscription was paid.
    private(set) var wasPaidBefore = false
    /// The trial that it is the first payment after.
    private(set) var converted: SimulatedSale?

    var isTrial: Bool { sale.isTrial }

    private init(_ sale: SimulatedSale, graceEnd: Timestamp?) {
        self.sale = sale
        let natural = [sale.expiresDate, graceEnd].compactMap(\.self).max() ?? sale.purchaseDate
        let refund = sale.refundedAt ?? natural
        end = min(natural, refund)
        isEndedByRefund = refund < natural
    }

    /// The periods of one subscription.
    ///
    /// - Parameters:
    ///   - sales: In the order in which they were sold.
    ///   - graceEnds: The ends of grace periods, by the transactions before them.
    static func periods(of sales: [SimulatedSale], graceEnds: [TransactionKey: Timestamp]) -> [BookedPeriod] {
        var periods = sales.map { BookedPeriod($0, graceEnd: graceEnds[$0.key]) }
        for index in periods.indices.dropLast() {
            let next = periods[index + 1].sale.purchaseDate
            if next < periods[index].end { (periods[index].end, periods[index].isEndedByRefund) = (next, false) }
        }
        // A period whose place another took at once was never active.
        periods.removeAll { $0.end <= $0.sale.purchaseDate }
        var (trial, wasPaid): (SimulatedSale?, Bool) = (nil, false)
        for index in periods.indices {
            let period = periods[index]
            if index > 0, period.sale.purchaseDate <= periods[index - 1].end.adding(seconds: gapSeconds) {
                // A paid subscription has ended if a trial follows.
                periods[index - 1].isFollowed = periods[index - 1].isTrial || !period.isTrial
                if !periods[index - 1].isTrial { periods[index].predecessor = periods[index - 1].sale }
            }
            if index > 0, CalendarDay(period.sale.purchaseDate) == CalendarDay(periods[index - 1].end) {
                periods[index - 1].isSettled = true
            }
            guard !period.isTrial else {
                trial = period.sale
                continue
            }
            (periods[index].wasPaidBefore, periods[index].converted) = (wasPaid, trial)
            (trial, wasPaid) = (nil, true)
        }
        return periods
    }

    /// True if the subscription is active by the period when a day ends; an end of today may still be moved by a renewal.
    func isActive(atEndOf day: CalendarDay, today: CalendarDay) -> Bool {
        let midnight = day.adding(days: 1).start
        return sale.purchaseDate < midnight && (end >= midnight || endsToday(today) && day == today)
    }

    /// The day of the end, if nothing follows and the day is over.
    func churnDay(today: CalendarDay) -> CalendarDay? {
        isFollowed || CalendarDay(end) > today || endsToday(today) ? nil : CalendarDay(end)
    }

    private func endsToday(_ today: CalendarDay) -> Bool {
        CalendarDay(end) == today && !isEndedByRefund && !isFollowed && !isSettled
    }
}
