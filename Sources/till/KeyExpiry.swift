import Proofs

/// The expiry of an API key: a number of days, or a moment.
package enum KeyExpiry: Hashable {
    case days(Int64)
    case moment(Timestamp)

    /// The largest number of days.
    static let maximumDays: Int64 = 36_500

    /// Reads `90d`, `2027-01-31` (its first moment in UTC) or `2027-01-31T12:00:00Z`.
    ///
    /// - Returns: Nil for another text.
    package init?(_ text: String) {
        if text.hasSuffix("d") {
            guard let days = Int64(text.dropLast()), (1...Self.maximumDays).contains(days) else { return nil }
            self = .days(days)
        } else if let day = CalendarDay(text) {
            self = .moment(day.start)
        } else if let moment = Timestamp(internetDateTime: text) {
            self = .moment(moment)
        } else {
            return nil
        }
    }

    /// The moment of the expiry of a key that is made now.
    package func moment(from now: Timestamp) -> Timestamp {
        switch self {
        case .days(let days): now.adding(days: days)
        case .moment(let moment): moment
        }
    }
}
