import Proofs

/// A notification that the service received, of any app and about any purchase.
package struct ReceivedNotification: Hashable, Sendable {
    /// The position of a notification in the order of the receipts.
    package struct Position: Hashable, Sendable {
        package let receivedAt: Timestamp
        package let notificationUUID: String
        package let origin: String

        package init(receivedAt: Timestamp, notificationUUID: String, origin: String) {
            self.receivedAt = receivedAt
            self.notificationUUID = notificationUUID
            self.origin = origin
        }
    }

    /// The time after which the App Store's first attempt must have failed: it repeats a notification after an hour (App Store
    /// Server Notifications, "Responding to App Store Server Notifications").
    static let usualDelay: Int64 = 60 * 60 * 1000
    /// The time for which the App Store waits for the answer to a consumption request, in seconds.
    package static let answerTime: Int64 = 12 * 60 * 60

    /// The bundle identifier of the app.
    package let app: String
    package let notification: StatedNotification
    /// The present owner of the purchase; nil if nobody has redeemed it, or the owner was erased.
    package let owner: User?
    /// The time of the second receipt; nil if the notification was received once.
    package let repeatedAt: Timestamp?
    /// The time at which a consumption request was answered or refused; nil for an open one.
    package let settledAt: Timestamp?

    /// True if the notification came an hour or more after its signature, so by a repetition or a reconciliation.
    package var isLate: Bool {
        notification.receivedAt.millisecondsSince1970 - notification.signedAt.millisecondsSince1970 >= Self.usualDelay
    }

    package var position: Position {
        Position(
            receivedAt: notification.receivedAt, notificationUUID: notification.notificationUUID,
            origin: notification.origin.rawValue)
    }
}
