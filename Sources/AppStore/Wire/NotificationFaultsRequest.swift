/// A request to inject faults into the next notifications.
public struct NotificationFaultsRequest: Codable, Sendable {
    /// The faults: `duplicate`, `reorder`, `drop` or `delay:SECONDS`.
    public let faults: [String]

    public init(faults: [String]) {
        self.faults = faults
    }
}
