/// A figure over a time.
public struct FigureAnswerResource: Codable, Sendable {
    public let figure: String
    /// `production` or `sandbox`.
    public let environment: String
    /// `day`, `week` or `month`.
    public let by: String
    /// `app`, `product`, `storefront` or `origin`; nil for no group.
    public let group: String?
    public let periods: [FigurePeriodResource]
    public let series: [FigureSeriesResource]
    /// The users of whom something was written that the sums lack.
    public let pendingUsers: Int
    /// True if the sums have all users of before the figures came into use, or count them among the pending.
    public let isBackfilled: Bool

    public init(
        figure: String,
        environment: String,
        by: String,
        group: String? = nil,
        periods: [FigurePeriodResource],
        series: [FigureSeriesResource],
        pendingUsers: Int,
        isBackfilled: Bool
    ) {
        self.figure = figure
        self.environment = environment
        self.by = by
        self.group = group
        self.periods = periods
        self.series = series
        self.pendingUsers = pendingUsers
        self.isBackfilled = isBackfilled
    }
}
