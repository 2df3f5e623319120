/// The time of the store's clock.
public struct TimeResource: Codable, Sendable {
    /// RFC 3339, UTC.
    public let now: String

    public init(now: String) {
        self.now = now
    }
}
