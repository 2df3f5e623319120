/// A period of a figure.
public struct FigurePeriodResource: Codable, Sendable {
    /// The first day in UTC, such as `2026-10-31`.
    public let from: String
    /// The last day in UTC.
    public let to: String
    /// True if the last day has ended.
    public let isComplete: Bool

    public init(from: String, to: String, isComplete: Bool) {
        self.from = from
        self.to = to
        self.isComplete = isComplete
    }
}
