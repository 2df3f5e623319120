/// A request to advance the store's clock.
public struct TimeAdvanceRequest: Codable, Sendable {
    /// A number with a unit, such as `1mo`.
    public let by: String

    public init(by: String) {
        self.by = by
    }
}
