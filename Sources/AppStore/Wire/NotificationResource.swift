/// A notification of the store.
package struct NotificationResource: Codable, Sendable {
    /// An attempt to send a notification.
    package struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        package let date: String
        package let result: String
    }

    package let notificationUUID: String
    package let notificationType: String
    package var subtype: String?
    package var transactionId: String?
    /// RFC 3339, UTC.
    package let date: String
    package let sendAttempts: [Attempt]
    /// A JWS.
    package let signedPayload: String
}
