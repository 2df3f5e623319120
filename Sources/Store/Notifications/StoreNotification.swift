import Commerce
import Foundation
import Receipts

/// A notification that the store has signed, and what came of sending it (App Store Server API,
/// `NotificationHistoryResponseItem`).
public struct StoreNotification: Hashable, Sendable {
    public let notificationUUID: UUID
    public let type: NotificationTypeV2
    public let subtype: Subtype?
    /// The transaction it is about; nil of a test or a summary.
    public let transactionIdentifier: String?
    public let originalTransactionIdentifier: String?
    /// When it came about, by the store's clock.
    public let date: Timestamp
    /// The JWS that is sent.
    public let signedPayload: String
    public var sendAttempts: [SendAttempt] = []
    /// When it is sent next; nil of one that was delivered, or is not to be sent again.
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

    /// One try to deliver a notification.
    public struct SendAttempt: Hashable, Sendable, Codable {
        public let date: Timestamp
        public let result: SendAttemptResult

        public init(date: Timestamp, result: SendAttemptResult) {
            self.date = date
            self.result = result
        }
    }
}
