/// The time of the store's clock.
public struct TimeResource: Codable, Sendable {
    /// RFC 3339, UTC.
    public let now: String

    /// The events that an advance of the clock brought about; nil without an advance.
    public let events: [DueEventResource]?

    public init(now: String, events: [DueEventResource]? = nil) {
        self.now = now
        self.events = events
    }
}
