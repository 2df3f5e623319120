extension Timestamp {
    /// The day of the month in UTC, from 1.
    public var dayOfMonth: Int {
        Int(Self.civilDate(daysSince1970: Self.quotient(secondsSince1970, 86_400)).day)
    }

    /// Returns the moment one period later, at the same time of day in UTC.
    ///
    /// - Parameter dayOfMonth: The target day for months and years. A subscription of the 31st renews on the last day
    ///   of a shorter month, and then on the 31st again.
    public func adding(_ period: SubscriptionPeriod, dayOfMonth: Int) -> Timestamp {
        switch period.unit {
        case .day: return adding(days: Int64(period.value))
        case .week: return adding(days: 7 * Int64(period.value))
        case .month, .year:
            let days = Self.quotient(secondsSince1970, 86_400)
            let date = Self.civilDate(daysSince1970: days)
            let months = date.month - 1 + Int64(period.value) * (period.unit == .year ? 12 : 1)
            let year = date.year + Self.quotient(months, 12)
            let month = Self.remainder(months, 12) + 1
            let day = min(Int64(dayOfMonth), Self.days(inMonth: month, year: year))
            return adding(days: Self.daysSince1970(year: year, month: month, day: day) - days)
        }
    }
}
