import Commerce

/// The time that a row of sums is of. The raw value is its number in the ledger.
enum FigureSpan: Int, CaseIterable {
    case day = 0
    case month = 1

    /// The first day of the span that has a day.
    func first(_ day: CalendarDay) -> CalendarDay {
        switch self {
        case .day: day
        case .month: day.firstOfMonth
        }
    }
}
