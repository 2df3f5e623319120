import Foundation
import Proofs

/// A signed notification of the store and its delivery attempts (App Store Server API,
/// `NotificationHistoryResponseItem`).
package struct StoreNotification: Hashable, Sendable {
    package let notificationUUID: UUID
    package let type: NotificationTypeV2
    package let subtype: Subtype?
    /// The transaction of the notification; nil for a test or a summary.
    package let transactionIdentifier: String?
    package let originalTransactionIdentifier: String?
    /// The date of its creation, by the store's clock.
    package let date: Timestamp
    /// The JWS that the store sends.
    package let signedPayload: String
    package var sendAttempts: [SendAttempt] = []
    /// The date of the next attempt; nil if the notification was delivered or will not be sent again.
    package var nextAttemptDate: Timestamp?

    package init(
        notificationUUID: UUID,
        type: NotificationTypeV2,
        subtype: Subtype?,
        transactionIdentifier: String?,
        originalTransactionIdentifier: String?,
        date: Timestamp,
        signedPayload: String,
        sendAttempts: [SendAttempt] = [],
        nextAttemptDate: Timestamp? = nil
    ) {
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.date = date
        self.signedPayload = signedPayload
        self.sendAttempts = sendAttempts
        self.nextAttemptDate = nextAttemptDate
    }

    /// An attempt to deliver a notification.
    package struct SendAttempt: Hashable, Sendable, Codable {
        package let date: Timestamp
        package let result: SendAttemptResult

        package init(date: Timestamp, result: SendAttemptResult) {
            self.date = date
            self.result = result
        }
    }
}
