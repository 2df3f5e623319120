import Foundation
import Proofs

/// A signed notification of the store and its delivery attempts (App Store Server API,
/// `NotificationHistoryResponseItem`).
public struct StoreNotification: Hashable, Sendable {
    public let notificationUUID: UUID
    public let type: NotificationTypeV2
    public let subtype: Subtype?
    /// The transaction of the notification; nil for a test or a summary.
    public let transactionIdentifier: String?
    public let originalTransactionIdentifier: String?
    /// The date of its creation, by the store's clock.
    public let date: Timestamp
    /// The JWS that the store sends.
    public let signedPayload: String
    public var sendAttempts: [SendAttempt] = []
    /// The date of the next attempt; nil if the notification was delivered or will not be sent again.
    public var nextAttemptDate: Timestamp?

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
    public struct SendAttempt: Hashable, Sendable, Codable {
        public let date: Timestamp
        public let result: SendAttemptResult

        public init(date: Timestamp, result: SendAttemptResult) {
            self.date = date
            self.result = result
        }
    }
}
