import Proofs

/// The time span of a row of sums. The raw value is the number in the ledger.
enum FigureSpan: Int, CaseIterable {
    case day = 0
    case month = 1

    /// The first day of the span with a day.
    func first(_ day: CalendarDay) -> CalendarDay {
        switch self {
        case .day: day
        case .month: day.firstOfMonth
        }
    }
}
