/// A day of the proleptic Gregorian calendar in UTC.
public struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let daysSince1970: Int64

    public init(daysSince1970: Int64) {
        self.daysSince1970 = daysSince1970
    }

    /// The day of a moment.
    public init(_ moment: Timestamp) {
        daysSince1970 = Timestamp.quotient(moment.millisecondsSince1970, 86_400_000)
    }

    /// Reads a date of RFC 3339: `2026-10-31`.
    ///
    /// - Returns: Nil if the text has another form.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let midnight = Timestamp(rfc3339: text + "T00:00:00Z") else { return nil }
        self.init(midnight)
    }

    public var description: String { String(start.rfc3339.prefix(10)) }

    /// The first moment of the day.
    public var start: Timestamp { Timestamp(millisecondsSince1970: daysSince1970 * 86_400_000) }

    public static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.daysSince1970 < right.daysSince1970 }

    public func adding(days: Int64) -> CalendarDay { CalendarDay(daysSince1970: daysSince1970 + days) }

    /// The Monday of the same week, or the day itself.
    public var firstOfWeek: CalendarDay { adding(days: -Timestamp.remainder(daysSince1970 + 3, 7)) }

    /// The first day of the same month.
    public var firstOfMonth: CalendarDay {
        adding(days: 1 - Timestamp.civilDate(daysSince1970: daysSince1970).day)
    }

    public var firstOfNextMonth: CalendarDay {
        let date = Timestamp.civilDate(daysSince1970: daysSince1970)
        let (year, month) = date.month == 12 ? (date.year + 1, 1) : (date.year, date.month + 1)
        return CalendarDay(daysSince1970: Timestamp.daysSince1970(year: year, month: month, day: 1))
    }
}
