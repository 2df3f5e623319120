/// A request to inject faults into the next notifications.
struct NotificationFaultsRequest: Codable, Sendable {
    /// The faults: `duplicate`, `reorder`, `drop` or `delay:SECONDS`.
    let faults: [String]
}
