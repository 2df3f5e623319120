/// The service's answer to a notification of the App Store.
public struct NotificationReceipt: Codable, Sendable {
    /// `granted`, `revoked`, `duplicate` or another outcome.
    public let outcome: String

    public init(outcome: String) {
        self.outcome = outcome
    }
}
