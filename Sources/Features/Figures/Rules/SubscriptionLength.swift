import Proofs

/// The length of a subscription's period, which converts its price to a monthly price.
package enum SubscriptionLength: CaseIterable, Sendable {
    case day
    case threeDays
    case week
    case twoWeeks
    case month
    case twoMonths
    case threeMonths
    case sixMonths
    case year

    /// The factor of the monthly revenue: the price times `numerator`, divided by `denominator`.
    private var factor: (numerator: Int64, denominator: Int64) {
        switch self {
        case .day: (30, 1)
        case .threeDays: (10, 1)
        case .week: (4, 1)
        case .twoWeeks: (2, 1)
        case .month: (1, 1)
        case .twoMonths: (1, 2)
        case .threeMonths: (1, 3)
        case .sixMonths: (1, 6)
        case .year: (1, 12)
        }
    }

    /// The longest period of each length, in days. The longest length has no limit.
    private static let limits: [(days: Int64, length: SubscriptionLength)] = [
        (1, .day), (4, .threeDays), (10, .week), (20, .twoWeeks), (45, .month), (75, .twoMonths), (135, .threeMonths),
        (270, .sixMonths),
    ]

    /// The longest period of each length in the App Store's sandbox, in seconds. A month takes five minutes there.
    private static let acceleratedLimits: [(seconds: Int64, length: SubscriptionLength)] = [
        (240, .week), (450, .month), (750, .twoMonths), (1_350, .threeMonths), (2_700, .sixMonths), (43_200, .year),
    ]

    /// The length of a period.
    ///
    /// A period of less than twelve hours is from a sandbox, whose time runs faster.
    package init(from start: Timestamp, until end: Timestamp) {
        let seconds = end.secondsSince1970.subtractingReportingOverflow(start.secondsSince1970).partialValue
        if let accelerated = Self.acceleratedLimits.first(where: { seconds <= $0.seconds }) {
            self = accelerated.length
        } else {
            let days = (seconds + 43_200) / 86_400
            self = Self.limits.first { days <= $0.days }?.length ?? .year
        }
    }

    /// The monthly revenue, in milliunits, rounded down.
    package func monthly(_ price: Int64) -> Int64 { price * factor.numerator / factor.denominator }
}
