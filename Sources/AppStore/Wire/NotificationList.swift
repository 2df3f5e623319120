/// The notifications of the store.
public struct NotificationList: Codable, Sendable {
    public let notifications: [NotificationResource]

    public init(notifications: [NotificationResource]) {
        self.notifications = notifications
    }
}
