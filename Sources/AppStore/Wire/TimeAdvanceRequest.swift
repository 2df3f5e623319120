/// A request to advance the store's clock.
struct TimeAdvanceRequest: Codable, Sendable {
    /// A number with a unit, such as `1mo`.
    let by: String
}
