/// A period of a figure.
package struct FigurePeriodResource: Codable, Sendable {
    /// The first day in UTC, such as `2026-10-31`.
    package let from: String
    /// The last day in UTC.
    package let to: String
    /// True if the last day has ended.
    package let isComplete: Bool
}
