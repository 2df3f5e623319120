import Foundation
import HTTPSupport
import Proofs

/// A signed notification of the store and its delivery attempts (App Store Server API,
/// `NotificationHistoryResponseItem`). In JSON, it is an entry of the history.
package struct StoreNotification: Hashable, Sendable, Encodable {
    /// The number in the order of creation. Later notifications have greater numbers.
    package internal(set) var number: Int64 = 0
    package let notificationUUID: UUID
    package let type: NotificationTypeV2
    package let subtype: Subtype?
    /// The transaction of the notification; nil for a test or a summary.
    package let transactionIdentifier: String?
    package let originalTransactionIdentifier: String?
    /// The date of its creation, by the clock of the transaction's account.
    package let date: Timestamp
    /// The JWS that the store sends.
    package let signedPayload: String
    package var sendAttempts: [SendAttempt] = []
    /// The date of the next attempt; nil if the notification was delivered or will not be sent again.
    package var nextAttemptDate: Timestamp?

    private enum CodingKeys: CodingKey {
        case signedPayload
        case sendAttempts
    }

    package struct SendAttempt: Hashable, Sendable, Encodable {
        package let date: Timestamp
        package let result: SendAttemptResult

        private enum CodingKeys: String, CodingKey {
            case date = "attemptDate"
            case result = "sendAttemptResult"
        }
    }
}

/// A notification that is due.
package struct NotificationDelivery: Hashable, Sendable {
    package let notificationUUID: UUID
    package let url: URL
    package let signedPayload: String
    /// The due date, which is also the date of the attempt.
    let dueDate: Timestamp
}

extension Store {
    /// The next notification that is due; nil if none is due or the store has no address to send it to.
    package func nextDelivery() throws(StoreError) -> NotificationDelivery? {
        try read { books in
            guard let url = books.settings.notificationsURL,
                let notification = try books.notifications.firstDue(at: books.now, books.clocks),
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
            let failures = notification.sendAttempts.count { $0.result != .success }
            let isRepeated =
                result == .success ? try books.notifications.dequeueRepeat(of: delivery.notificationUUID) : false
            let next = DeliverySchedule.nextAttempt(
                after: result, at: delivery.dueDate, failures: failures, isRepeated: isRepeated, in: environment)
            try books.notifications.add(result, at: delivery.dueDate, to: delivery.notificationUUID, next: next)
        }
    }

    /// Removes the faults of the next notifications, also of those that are due.
    package func clearFaults() throws(StoreError) {
        do { try commit { try StateRecords(database: $0).setFaults([]) } } catch { throw fault(error) }
    }
}

extension Books {
    /// Sends a notification once more, whatever the results of earlier attempts.
    package func replay(_ notificationUUID: UUID) throws {
        guard let notification = try notifications.notification(notificationUUID) else {
            throw StoreError.notificationNotFound(notificationUUID)
        }
        let sold = try notification.transactionIdentifier.flatMap(transactions.transaction)
        try notifications.send(notificationUUID, at: try sold.map { try now(of: $0.account) } ?? now)
    }

    /// Adds faults for the next notifications, one for each, after the faults that are already there.
    package func add(_ faults: [NotificationFault]) throws { try state.setFaults(try state.faults() + faults) }
}

/// The moments at which a notification is sent.
package enum DeliverySchedule {
    /// The hours from each failed attempt to the next (App Store Server Notifications, "Responding to App Store Server
    /// Notifications"); Apple's sandbox sends once.
    private static let retryHours: [Int64] = [1, 12, 24, 48, 72]

    /// The first attempt of a notification that is created now; nil if it is never sent.
    package static func firstAttempt(at now: Timestamp, _ fault: NotificationFault?) -> Timestamp? {
        switch fault {
        case .drop: nil
        case .delay(let seconds): now.adding(seconds: seconds)
        case .duplicate, .reorder, nil: now
        }
    }

    /// The date of the attempt after another; nil if there is none.
    ///
    /// - Parameters:
    ///   - failures: The number of failed attempts before.
    ///   - isRepeated: True if the notification is sent once more after its delivery.
    package static func nextAttempt(
        after result: SendAttemptResult,
        at date: Timestamp,
        failures: Int,
        isRepeated: Bool,
        in environment: AppStoreEnvironment
    ) -> Timestamp? {
        guard result != .success else { return isRepeated ? date : nil }
        let retryHours = environment == .production ? retryHours : []
        return failures < retryHours.count ? date.adding(seconds: retryHours[failures] * 3600) : nil
    }
}

/// The sign that a process delivers a store's notifications. The store's clock then waits for them at each due moment.
///
/// The release of the last reference ends it, and so does the end of the process.
package final class DeliveryLock: Sendable {
    private let descriptor: Int32

    /// - Returns: Nil if the file cannot be opened or locked. The clock then waits for nothing.
    init?(_ file: URL) {
        descriptor = open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // Only the look of another process at the lock can delay this one.
        while flock(descriptor, LOCK_SH) != 0 { guard errno == EINTR else { return nil } }
    }

    deinit {
        // Closing alone may not release the lock, because a child process that is being started has a copy of the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// True if any process holds the lock. A file that does not exist stays so.
    static func isHeld(_ file: URL) -> Bool {
        let descriptor = open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }
}

extension Store {
    /// The file of the lock; nil in memory, where this process delivers from the store's beginning to its end.
    private var deliveryFile: URL? { isInMemory ? nil : URL(filePath: path).appendingPathExtension("delivery") }

    /// True if a process delivers the notifications.
    var isDelivering: Bool { deliveryFile.map(DeliveryLock.isHeld) ?? true }

    /// Lets the clock wait for notifications at each due moment, as long as the lock is referenced.
    package func beginDelivering() -> DeliveryLock? { deliveryFile.flatMap { DeliveryLock($0) } }
}
