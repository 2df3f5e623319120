import Foundation
import GRDB
import Proofs

/// A notification in the outbox, with its attempts. A class, because the compiler crashes on a wide value in an async closure.
package final class QueuedNotification: Sendable {
    /// The number of the message (`messageId`).
    package let number: Int64
    package let date: Timestamp
    package let notification: DeveloperNotification
    package let attempts: Int
    /// The machine's time of the next attempt; nil if it was delivered or dropped, or if nobody is to be notified.
    package let nextAttempt: Timestamp?
    /// The deliveries that follow a successful one.
    let repeats: Int

    fileprivate init(_ row: Row) throws {
        (number, date) = (row["number"], Timestamp(millisecondsSince1970: row["date"]))
        (notification, attempts) = (try PlayRecord.value(row["record"]), row["attempts"])
        nextAttempt = (row["next_attempt"] as Int64?).map { Timestamp(millisecondsSince1970: $0) }
        repeats = row["repeats"]
    }
}

/// The address to which Pub/Sub pushes, and the identity that it states.
package struct PushSettings: Codable, Hashable, Sendable {
    /// The standard account of pushed tokens.
    package static let standardEmail = "push@till-local-play.iam.gserviceaccount.com"

    package var endpoint: URL
    /// The audience of the tokens; nil for the address.
    package var audience: String?
    /// The account of the tokens.
    package var email = standardEmail

    package init(endpoint: URL) {
        self.endpoint = endpoint
    }
}

/// Real-time developer notifications: an outbox, in the order of what happened.
extension PlayBooks {
    private static let settingsName = "push"
    /// The shortest and the longest pause between attempts, in seconds (Pub/Sub's retry policy).
    private static let pauses: ClosedRange<Int64> = 10...600

    package func pushSettings() throws -> PushSettings? {
        try SQLRequest<String>("SELECT value FROM setting WHERE name = \(Self.settingsName)").fetchOne(database)
            .map { try PlayRecord.value($0) }
    }

    /// Sets the receiver of notifications. Earlier ones are not sent to it.
    package func set(_ settings: PushSettings?) throws {
        try database.execute(literal: "DELETE FROM setting WHERE name = \(Self.settingsName)")
        guard let settings else { return }
        try database.execute(
            literal: "INSERT INTO setting (name, value) VALUES (\(Self.settingsName), \(try PlayRecord.text(settings)))"
        )
    }

    /// Adds a notification to the outbox, with the fault that is next.
    func notify(_ packageName: String, at time: Timestamp, _ fill: (inout DeveloperNotification) -> Void) throws {
        var notification = DeveloperNotification(version: DeveloperNotification.version, packageName: packageName)
        notification.eventTimeMillis = Int64Text(time.millisecondsSince1970)
        fill(&notification)
        let fault = try nextNotificationFault()
        let isSent = try fault != .drop && pushSettings() != nil
        // A delay follows the Play's clock, so that a test moves it by hand.
        let notBefore = if case .delay(let seconds) = fault { time.adding(seconds: seconds) } else { time }
        try database.execute(
            literal: """
                INSERT INTO notification (date, record, next_attempt, not_before, comes_after_next, repeats)
                VALUES (\(time.millisecondsSince1970), \(try PlayRecord.text(notification)),
                    \(isSent ? machineTime.millisecondsSince1970 : nil), \(notBefore.millisecondsSince1970),
                    \(fault == .reorder), \(fault == .duplicate ? 1 : 0))
                """)
    }

    /// Sends a notification once more, with its number, as Pub/Sub may do.
    ///
    /// - Throws: `PlayError` for an unknown one, and without a receiver.
    package func replay(_ number: Int64) throws {
        guard try pushSettings() != nil else {
            throw PlayError.invalidAction(
                "Nobody is notified. Name a receiver at the start: `till play --notifications-url http://127.0.0.1:3000/google`."
            )
        }
        try database.execute(
            literal: """
                UPDATE notification SET next_attempt = \(machineTime.millisecondsSince1970), not_before = NULL,
                    comes_after_next = FALSE
                WHERE number = \(number)
                """)
        guard database.changesCount > 0 else { throw PlayError.notificationNotFound(number) }
    }

    /// Adds the test notification of the Play Console.
    package func sendTestNotification(of packageName: String) throws {
        guard try hasApp(packageName) else { throw PlayError.appNotFound(packageName) }
        try notify(packageName, at: now) { $0.testNotification = .init(version: DeveloperNotification.version) }
    }

    /// The notifications, newest first.
    package func notifications(limit: Int = 1000) throws -> [QueuedNotification] {
        try fetch("true ORDER BY number DESC LIMIT \(limit)")
    }

    /// The notifications after one, the oldest first.
    package func notifications(after number: Int64) throws -> [QueuedNotification] {
        try fetch("number > \(number) ORDER BY number")
    }

    /// The notifications whose attempt is due, the oldest first.
    package func dueNotifications(limit: Int) throws -> [QueuedNotification] {
        try fetch(
            """
            next_attempt <= \(machineTime.millisecondsSince1970)
                AND coalesce(not_before, 0) <= \(now.millisecondsSince1970) AND (NOT comes_after_next OR EXISTS (
                    SELECT 1 FROM notification AS follower
                    WHERE follower.number = (
                        SELECT min(number) FROM notification AS later WHERE later.number > notification.number)
                        AND (follower.next_attempt IS NULL OR follower.attempts > 0)))
            ORDER BY number LIMIT \(limit)
            """)
    }

    /// Records an attempt, unless a replay was requested meanwhile. A failed one is repeated after a pause that grows.
    package func recordAttempt(on queued: QueuedNotification, isDelivered: Bool) throws {
        let pause = min(Self.pauses.upperBound, Self.pauses.lowerBound << Int64(min(queued.attempts, 6)))
        let isRepeated = isDelivered && queued.repeats > 0
        let next = isRepeated ? machineTime : isDelivered ? nil : machineTime.adding(seconds: pause)
        try database.execute(
            literal: """
                UPDATE notification SET attempts = attempts + 1, next_attempt = \(next?.millisecondsSince1970),
                    repeats = \(queued.repeats - (isRepeated ? 1 : 0))
                WHERE number = \(queued.number) AND next_attempt = \(queued.nextAttempt?.millisecondsSince1970)
                """)
    }

    private func fetch(_ condition: SQL) throws -> [QueuedNotification] {
        try SQLRequest<Row>("SELECT * FROM notification WHERE \(condition)").fetchAll(database)
            .map { try QueuedNotification($0) }
    }
}

extension DeveloperNotification.VoidedPurchase {
    init(_ voided: VoidedPurchase, isSubscription: Bool) {
        self.init(
            purchaseToken: voided.purchaseToken, orderId: voided.orderId, productType: isSubscription ? 1 : 2,
            refundType: voided.voidedQuantity == nil ? 1 : 2)
    }
}
