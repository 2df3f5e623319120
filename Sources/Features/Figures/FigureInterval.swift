import Proofs

/// The length of a figure's periods.
package enum FigureInterval: String, CaseIterable, Sendable {
    case day
    /// From Monday to Sunday.
    case week
    case month

    /// The first day of the period with a day.
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
