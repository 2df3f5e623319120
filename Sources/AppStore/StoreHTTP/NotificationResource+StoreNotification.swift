import Foundation
import Proofs

extension NotificationResource {
    package init(_ notification: StoreNotification) {
        self.init(
            notificationUUID: notification.notificationUUID.uuidString.lowercased(),
            notificationType: notification.type.rawValue, subtype: notification.subtype?.rawValue,
            transactionId: notification.transactionIdentifier, date: notification.date.rfc3339,
            sendAttempts: notification.sendAttempts.map {
                Attempt(date: $0.date.rfc3339, result: $0.result.rawValue)
            }, signedPayload: notification.signedPayload)
    }
}
