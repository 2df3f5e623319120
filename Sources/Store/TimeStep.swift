import Commerce

/// How far time is moved on by hand: `90s`, `5min`, `2h`, `3d`, `1w`, `1mo`, `1y`.
public enum TimeStep: Hashable, Sendable {
    case seconds(Int64)
    /// By the calendar.
    case period(SubscriptionPeriod)

    /// - Returns: nil for any other text.
    public init?(_ text: String) {
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
}

extension Store {
    /// Moves the store's clock on.
    ///
    /// - Returns: What time it is then.
    public func advance(_ step: TimeStep) throws(StoreError) -> Timestamp {
        switch step {
        case .seconds(let seconds): try advance(seconds: seconds)
        case .period(let period): try advance(period)
        }
    }
}
