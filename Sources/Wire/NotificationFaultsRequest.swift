/// A request to disturb the next notifications.
public struct NotificationFaultsRequest: Codable, Sendable {
    /// Each is `duplicate`, `reorder`, `drop` or `delay:SECONDS`.
    public let faults: [String]

    public init(faults: [String]) {
        self.faults = faults
    }
}
