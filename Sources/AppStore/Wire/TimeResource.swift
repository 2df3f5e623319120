/// The time of the store's clock.
package struct TimeResource: Codable, Sendable {
    /// RFC 3339, UTC.
    package let now: String

    /// The events that an advance of the clock brought about; nil without an advance.
    package let events: [DueEventResource]?

    package init(now: String, events: [DueEventResource]? = nil) {
        self.now = now
        self.events = events
    }
}
