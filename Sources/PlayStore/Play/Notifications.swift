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
    /// The machine's time of the next attempt; nil if it was delivered, or if nobody is to be notified.
    package let nextAttempt: Timestamp?

    init(
        number: Int64, date: Timestamp, notification: DeveloperNotification, attempts: Int, nextAttempt: Timestamp?
    ) {
        (self.number, self.date, self.notification) = (number, date, notification)
        (self.attempts, self.nextAttempt) = (attempts, nextAttempt)
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

    /// Adds a notification to the outbox.
    func notify(_ packageName: String, at time: Timestamp, _ fill: (inout DeveloperNotification) -> Void) throws {
        var notification = DeveloperNotification(version: DeveloperNotification.version, packageName: packageName)
        notification.eventTimeMillis = Int64Text(time.millisecondsSince1970)
        fill(&notification)
        let first = try pushSettings() == nil ? nil : machineTime.millisecondsSince1970
        try database.execute(
            literal: """
                INSERT INTO notification (date, record, next_attempt)
                VALUES (\(time.millisecondsSince1970), \(try PlayRecord.text(notification)), \(first))
                """)
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
    func dueNotifications(limit: Int) throws -> [QueuedNotification] {
        try fetch("next_attempt <= \(machineTime.millisecondsSince1970) ORDER BY number LIMIT \(limit)")
    }

    /// Records an attempt. A failed one is repeated after a pause that grows.
    func recordAttempt(on queued: QueuedNotification, isDelivered: Bool) throws {
        let pause = min(Self.pauses.upperBound, Self.pauses.lowerBound << Int64(min(queued.attempts, 6)))
        let next = isDelivered ? nil : machineTime.adding(seconds: pause).millisecondsSince1970
        try database.execute(
            literal: """
                UPDATE notification SET attempts = attempts + 1, next_attempt = \(next) WHERE number = \(queued.number)
                """)
    }

    private func fetch(_ condition: SQL) throws -> [QueuedNotification] {
        try SQLRequest<Row>("SELECT * FROM notification WHERE \(condition)").fetchAll(database).map { row in
            QueuedNotification(
                number: row["number"], date: Timestamp(millisecondsSince1970: row["date"]),
                notification: try PlayRecord.value(row["record"]), attempts: row["attempts"],
                nextAttempt: (row["next_attempt"] as Int64?).map { Timestamp(millisecondsSince1970: $0) })
        }
    }
}

extension DeveloperNotification.VoidedPurchase {
    init(_ voided: VoidedPurchase, isSubscription: Bool) {
        self.init(
            purchaseToken: voided.purchaseToken, orderId: voided.orderId, productType: isSubscription ? 1 : 2,
            refundType: voided.voidedQuantity == nil ? 1 : 2)
    }
}
