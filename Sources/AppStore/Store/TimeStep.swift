import Proofs

/// A manual step of the store's clock: `90s`, `5min`, `2h`, `3d`, `1w`, `1mo`, `1y`.
package enum TimeStep: Hashable, Sendable {
    case seconds(Int64)
    /// A period of the calendar.
    case period(SubscriptionPeriod)

    /// - Returns: Nil for any other text.
    package init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), (1...99_999).contains(number) else { return nil }
        switch text.dropFirst(digits.count) {
        case "s": self = .seconds(number)
        case "min": self = .seconds(number * 60)
        case "h": self = .seconds(number * 3600)
        case "d": self = .seconds(number * 86_400)
        case "w": self = .seconds(number * 7 * 86_400)
        case "mo":
            guard let period = SubscriptionPeriod("P\(number)M") else { return nil }
            self = .period(period)
        case "y":
            guard let period = SubscriptionPeriod("P\(number)Y") else { return nil }
            self = .period(period)
        default: return nil
        }
    }

    /// The maximum step, ten years. All events that are due in between happen in one call.
    private static let maximumSeconds: Int64 = 10 * 366 * 86_400

    /// The length of the step from a moment, in seconds.
    ///
    /// - Throws: `StoreError`, `invalidAction`, for a negative step or a step of more than ten years.
    package func seconds(from start: Timestamp) throws(StoreError) -> Int64 {
        let seconds =
            switch self {
            case .seconds(let seconds): seconds
            case .period(let period):
                (start.adding(period, dayOfMonth: start.dayOfMonth).millisecondsSince1970
                    - start.millisecondsSince1970) / 1000
            }
        guard (0...Self.maximumSeconds).contains(seconds) else {
            throw .invalidAction("The clock only moves forward, at most ten years at once.")
        }
        return seconds
    }
}
