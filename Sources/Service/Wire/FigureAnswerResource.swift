/// The values of a figure over time.
package struct FigureAnswerResource: Codable, Sendable {
    package let figure: String
    /// `production` or `sandbox`.
    package let environment: String
    /// `day`, `week` or `month`.
    package let by: String
    /// `app`, `product`, `storefront` or `origin`. Nil without a group.
    package var group: String?
    package let periods: [FigurePeriodResource]
    package let series: [FigureSeriesResource]
    /// The number of users with changes that the sums do not include yet.
    package let pendingUsers: Int
    /// True if the sums include all earlier users or count them as pending.
    package let isBackfilled: Bool
}
