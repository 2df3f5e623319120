/// The values of a figure over time.
public struct FigureAnswerResource: Codable, Sendable {
    public let figure: String
    /// `production` or `sandbox`.
    public let environment: String
    /// `day`, `week` or `month`.
    public let by: String
    /// `app`, `product`, `storefront` or `origin`. Nil without a group.
    public let group: String?
    public let periods: [FigurePeriodResource]
    public let series: [FigureSeriesResource]
    /// The number of users with changes that the sums do not include yet.
    public let pendingUsers: Int
    /// True if the sums include all earlier users or count them as pending.
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
