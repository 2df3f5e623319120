/// A notification of the store.
public struct NotificationResource: Codable, Sendable {
    /// An attempt to send a notification.
    public struct Attempt: Codable, Sendable {
        /// RFC 3339, UTC.
        public let date: String
        public let result: String

        public init(date: String, result: String) {
            self.date = date
            self.result = result
        }
    }

    public let notificationUUID: String
    public let notificationType: String
    public let subtype: String?
    public let transactionId: String?
    /// RFC 3339, UTC.
    public let date: String
    public let sendAttempts: [Attempt]
    /// A JWS.
    public let signedPayload: String

    public init(
        notificationUUID: String,
        notificationType: String,
        subtype: String? = nil,
        transactionId: String? = nil,
        date: String,
        sendAttempts: [Attempt],
        signedPayload: String
    ) {
        self.notificationUUID = notificationUUID
        self.notificationType = notificationType
        self.subtype = subtype
        self.transactionId = transactionId
        self.date = date
        self.sendAttempts = sendAttempts
        self.signedPayload = signedPayload
    }
}
