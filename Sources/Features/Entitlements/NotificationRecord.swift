import Proofs

/// A notification of the App Store as the ledger stores it.
package struct NotificationRecord: Hashable, Sendable {
    /// The bundle identifier of the app.
    package let app: String
    package let origin: Origin
    /// The identity of the notification. Duplicates have the same one.
    package let notificationUUID: String
    /// The type, in Apple's words.
    package let type: String
    package let subtype: String?
    package let signedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    package let proofDigest: [UInt8]
    /// The decoded notification as JSON, without the proofs inside it; nil if it is too long to be stored.
    package let content: String?

    /// The longest content that is stored, in bytes of UTF-8.
    static let maximumContentLength = 8192

    package init(
        app: String,
        origin: Origin,
        notificationUUID: String,
        type: String,
        subtype: String?,
        signedAt: Timestamp,
        proofDigest: [UInt8],
        content: String? = nil
    ) {
        self.app = app
        self.origin = origin
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.proofDigest = proofDigest
        self.content = content.flatMap { $0.utf8.count <= Self.maximumContentLength ? $0 : nil }
    }
}

/// The outcome of a notification.
package enum NotificationOutcome: String, Sendable {
    /// The notification gives an item to a user, or gives it back.
    case granted
    /// The notification takes an item from its owner.
    case revoked
    /// The notification changes nobody's items: it is known, outdated, or about something else.
    case recorded
    /// Nobody has redeemed the transaction. The statement is applied when a user does.
    case parked
    /// The notification was received before.
    case duplicate

    /// The outcomes of most notifications.
    static let frequent: [NotificationOutcome] = [.granted, .recorded]
}
