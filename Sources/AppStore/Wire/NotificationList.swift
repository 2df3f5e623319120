/// The notifications of the store.
struct NotificationList: Codable, Sendable {
    let notifications: [NotificationResource]
}
