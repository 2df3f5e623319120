import Foundation
import Proofs

/// A notification that is due.
package struct NotificationDelivery: Hashable, Sendable {
    package let notificationUUID: UUID
    package let url: URL
    package let signedPayload: String
    /// The due date, which is also the date of the attempt.
    let dueDate: Timestamp
}

extension Store {
    /// The notifications from one date until before another, the oldest first. The default is all of them.
    package func notifications(
        from start: Timestamp = Timestamp(millisecondsSince1970: 0),
        until end: Timestamp = Timestamp(millisecondsSince1970: .max)
    ) throws(StoreError) -> [StoreNotification] {
        try read { try $0.notifications.notifications(from: start, until: end) }
    }

    /// The next notification that is due; nil if none is due or the store has no address to send it to.
    package func nextDelivery() throws(StoreError) -> NotificationDelivery? {
        try read { books in
            guard let url = books.settings.notificationsURL,
                let notification = try books.notifications.firstDue(by: books.now),
                let dueDate = notification.nextAttemptDate
            else { return nil }
            return NotificationDelivery(
                notificationUUID: notification.notificationUUID, url: url,
                signedPayload: notification.signedPayload, dueDate: dueDate)
        }
    }

    /// Stores the result of a delivery and the date of the next attempt. `DeliverySchedule` has the rules.
    package func record(_ result: SendAttemptResult, of delivery: NotificationDelivery) throws(StoreError) {
        try write { books in
            guard let notification = try books.notifications.notification(delivery.notificationUUID) else { return }
            let attempt = StoreNotification.SendAttempt(date: delivery.dueDate, result: result)
            let failures = notification.sendAttempts.count { $0.result != .success }
            let isRepeated =
                result == .success ? try books.notifications.dequeueRepeat(of: delivery.notificationUUID) : false
            let next = DeliverySchedule(environment).nextAttempt(
                after: attempt, failures: failures, isRepeated: isRepeated)
            try books.notifications.add(attempt, to: delivery.notificationUUID, next: next)
        }
    }

    /// Sends a notification once more, whatever the results of earlier attempts.
    package func replay(_ notificationUUID: UUID) throws(StoreError) {
        try write { books in
            guard try books.notifications.notification(notificationUUID) != nil else {
                throw StoreError.notificationNotFound(notificationUUID)
            }
            try books.notifications.send(notificationUUID, at: books.now)
        }
    }

    /// The faults of the next notifications, one for each.
    package func faults() throws(StoreError) -> [NotificationFault] {
        try read { try StateRecords(database: $0.database).faults() }
    }

    /// Removes the faults of the next notifications.
    package func clearFaults() throws(StoreError) {
        try writeState { try $0.setFaults([]) }
    }

    /// Adds faults for the next notifications, one for each, after the faults that are already there.
    package func add(_ faults: [NotificationFault]) throws(StoreError) {
        try write { books in
            let state = StateRecords(database: books.database)
            try state.setFaults(try state.faults() + faults)
        }
    }
}
