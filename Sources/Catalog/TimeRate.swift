import Proofs

/// The renewal rate of subscriptions (StoreKitTest's `SKTestTimeRate`, with its names and raw values).
public enum TimeRate: Int, Sendable, NamedCase, Codable {
    case realTime = 0
    case oneHourIsOneDay = 1
    case thirtyMinutesIsOneDay = 2
    case fiveMinutesIsOneDay = 3
    case oneMinuteIsOneDay = 4
    case thirtySecondsIsOneDay = 5
    case oneSecondIsOneDay = 6
    case monthlyRenewalEveryHour = 10
    case monthlyRenewalEveryThirtyMinutes = 11
    case monthlyRenewalEveryFifteenMinutes = 12
    case monthlyRenewalEveryFiveMinutes = 13
    case monthlyRenewalEveryThirtySeconds = 15
    case oneRenewalEveryFifteenMinutes = 1000
    case oneRenewalEveryFiveMinutes = 1001
    case oneRenewalEveryMinute = 1002
    case oneRenewalEveryThirtySeconds = 1003
    case oneRenewalEveryTenSeconds = 1004
    case oneRenewalEveryTwoSeconds = 1005

    /// Returns the end of a period.
    ///
    /// - Parameter dayOfMonth: The day on which a period of months or years ends in real time, if the month has that
    ///   day.
    public func end(of period: SubscriptionPeriod, from start: Timestamp, dayOfMonth: Int) -> Timestamp {
        switch scale {
        case .calendar: start.adding(period, dayOfMonth: dayOfMonth)
        case .day(let seconds): start.adding(seconds: Int64(period.days) * seconds)
        case .month(let seconds, let week):
            switch period.unit {
            case .day: start.adding(seconds: max(1, Int64(period.value) * week / 7))
            case .week: start.adding(seconds: Int64(period.value) * week)
            case .month: start.adding(seconds: Int64(period.value) * seconds)
            case .year: start.adding(seconds: Int64(period.value) * 12 * seconds)
            }
        case .renewal(let seconds): start.adding(seconds: seconds)
        }
    }

    /// Returns the grace period of an uncharged subscription in seconds: six days for weekly periods, otherwise
    /// sixteen.
    public func gracePeriodSeconds(for period: SubscriptionPeriod) -> Int64 {
        let isShort = period.days <= 7
        return switch scale {
        case .calendar: (isShort ? 6 : 16) * 86_400
        case .day(let seconds): (isShort ? 6 : 16) * seconds
        // Six sevenths of the week, rounded to the nearest second.
        case .month(_, let week) where isShort: (week * 12 + 7) / 14
        case .month(let seconds, _): seconds / 2
        case .renewal(let seconds): seconds
        }
    }

    /// The duration of billing retry in seconds: sixty days.
    public var billingRetrySeconds: Int64 {
        switch scale {
        case .calendar: 60 * 86_400
        case .day(let seconds): 60 * seconds
        case .month(let seconds, _), .renewal(let seconds): 2 * seconds
        }
    }

    /// The duration of billing retry under a commitment, in seconds: ninety days. Apple has no table of it for faster rates, so they
    /// keep the proportion.
    public var commitmentBillingRetrySeconds: Int64 { billingRetrySeconds / 2 * 3 }

    /// The fixed lengths of a rate, in seconds.
    private enum Scale {
        case calendar
        case day(Int64)
        case month(Int64, week: Int64)
        /// The same length for every period.
        case renewal(Int64)
    }

    /// Apple states the week for the rates of an hour, five minutes and thirty seconds. The others use a quarter of a
    /// month.
    private var scale: Scale {
        switch self {
        case .realTime: .calendar
        case .oneHourIsOneDay: .day(3600)
        case .thirtyMinutesIsOneDay: .day(1800)
        case .fiveMinutesIsOneDay: .day(300)
        case .oneMinuteIsOneDay: .day(60)
        case .thirtySecondsIsOneDay: .day(30)
        case .oneSecondIsOneDay: .day(1)
        case .monthlyRenewalEveryHour: .month(3600, week: 900)
        case .monthlyRenewalEveryThirtyMinutes: .month(1800, week: 450)
        case .monthlyRenewalEveryFifteenMinutes: .month(900, week: 225)
        case .monthlyRenewalEveryFiveMinutes: .month(300, week: 180)
        case .monthlyRenewalEveryThirtySeconds: .month(30, week: 10)
        case .oneRenewalEveryFifteenMinutes: .renewal(900)
        case .oneRenewalEveryFiveMinutes: .renewal(300)
        case .oneRenewalEveryMinute: .renewal(60)
        case .oneRenewalEveryThirtySeconds: .renewal(30)
        case .oneRenewalEveryTenSeconds: .renewal(10)
        case .oneRenewalEveryTwoSeconds: .renewal(2)
        }
    }
}

extension SubscriptionPeriod {
    /// The approximate number of days.
    fileprivate var days: Int {
        switch unit {
        case .day: value
        case .week: value * 7
        case .month: value * 30
        case .year: value * 365
        }
    }
}
