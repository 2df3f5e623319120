import Proofs

/// The values of a figure over time.
public struct FigureAnswer: Hashable, Sendable {
    /// The values of one app, product, storefront, origin or currency.
    public struct Series: Hashable, Sendable {
        /// The subject of the series; nil without a group. Empty for a storefront that the App Store has not stated.
        public let group: String?
        /// The ISO 4217 code; nil for a figure that is not money.
        public let currency: String?
        /// The points of the periods, in order.
        public let points: [Point]
    }

    public struct Point: Hashable, Sendable {
        /// A count, or milliunits of the currency. For a rate, its numerator.
        public let value: Int64
        /// The denominator of a rate.
        public let denominator: Int64?
        /// The parts of a movement, in order.
        public let parts: [Part]
    }

    public struct Part: Hashable, Sendable {
        public let name: String
        public let value: Int64
    }

    public struct Period: Hashable, Sendable {
        public let first: CalendarDay
        public let last: CalendarDay
        /// True if the last day is over.
        public let isComplete: Bool
    }

    public let query: FigureQuery
    public let periods: [Period]
    public let series: [Series]
    /// The number of users with writes that the sums do not include yet, up to `maximumPending`.
    public let pendingUsers: Int
    /// True if all users from before figures were turned on were found.
    public let isBackfilled: Bool

    public static let maximumPending = 10_000
}
