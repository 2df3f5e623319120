/// A period that a figure is told for.
public struct FigurePeriodResource: Codable, Sendable {
    /// The first day and the last day, in UTC: `2026-10-31`.
    public let from: String
    public let to: String
    /// True if the last day is over.
    public let isComplete: Bool

    public init(from: String, to: String, isComplete: Bool) {
        self.from = from
        self.to = to
        self.isComplete = isComplete
    }
}
