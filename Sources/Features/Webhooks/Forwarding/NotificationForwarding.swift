import Entitlements
import Ledger
import Proofs

/// The forwarding of the App Store's notifications to further servers, byte for byte.
///
/// A verified notification is queued before the App Store gets its answer. So it reaches each server although the App Store sends
/// it only once, and although a server is down.
package struct NotificationForwarding: DeliveryQueue {
    /// The largest number of servers.
    package static let maximumTargets = 5
    /// The duration of a lease, in seconds. Afterwards another service may send the notifications.
    private static let lease: Int64 = 60
    /// The time for which a notification is retried, in days. Then it is deleted.
    package static let retention: Int64 = 30
    /// The pause of the attempts after those of `WebhookSchedule`, in seconds.
    private static let laterDelay: Int64 = 86_400
    /// The largest number of notifications that one commit deletes.
    private static let deletedAtOnce = 1000

    package let ledger: Ledger
    package let targets: [ForwardingTarget]
    /// The system's clock.
    let clock: any WallClock
    let randomness: Randomness

    package init(
        to targets: [ForwardingTarget],
        from ledger: Ledger,
        clock: any WallClock,
        randomness: Randomness = .system
    ) {
        self.ledger = ledger
        self.targets = targets
        self.clock = clock
        self.randomness = randomness
    }

    /// Queues a verified notification for each server that receives those of its app, unless it was received before.
    ///
    /// - Parameter body: The request as the App Store has sent it.
    package func enqueue(_ notification: NotificationRecord, body: [UInt8]) async throws {
        let targets = targets.filter { $0.apps?.contains(notification.app) ?? true }
        // Anyone can send a known notification again.
        guard !targets.isEmpty, try await !ledger.read(.snapshot, { try $0.hasReceived(notification) }) else { return }
        let moment = clock.now()
        try await ledger.write { try $0.queue(notification, body: body, for: targets, at: moment) }
    }

    package func dueEndpoints() async throws -> [ForwardingTarget] {
        let now = clock.now()
        return try await ledger.read { transaction in
            try targets.filter { try transaction.hasDueForward(to: $0, at: now) }
        }
    }

    package func due(for target: ForwardingTarget, limit: Int) async throws -> [ForwardedNotification]? {
        let now = clock.now()
        return try await ledger.read { try $0.dueForwards(to: target, at: now, limit: limit) }
    }

    package func lease(_ due: [ForwardedNotification]) async throws -> [ForwardedNotification] {
        let end = clock.now().adding(seconds: Self.lease)
        return try await ledger.write { transaction in
            try due.filter { try transaction.change($0, attempts: $0.attempts + 1, nextAttemptAt: end) }.map {
                var leased = $0
                (leased.attempts, leased.nextAttemptAt) = (leased.attempts + 1, end)
                return leased
            }
        }
    }

    /// The notification alone: the App Store has signed it, and a server checks that signature.
    package func signed(_ message: ForwardedNotification, for target: ForwardingTarget) async throws -> SignedWebhook? {
        SignedWebhook(unsigned: message.body)
    }

    package func result(
        of message: ForwardedNotification,
        _ outcome: WebhookDelivery.Outcome,
        milliseconds: Int64? = nil,
        response: WebhookResponse? = nil
    ) -> DeliveryResult<ForwardedNotification> {
        let now = clock.now()
        let next =
            now.retry(after: message.attempts, delays: WebhookSchedule.delays, randomness: randomness)
            ?? now.adding(seconds: Self.laterDelay)
        let isOver = outcome.isDelivery || next > message.queuedAt.adding(days: Self.retention)
        return DeliveryResult(of: message, outcome, nextAttemptAt: isOver ? nil : next)
    }

    package func record(_ results: [DeliveryResult<ForwardedNotification>]) async throws {
        try await ledger.write { transaction in
            for result in results {
                if let next = result.nextAttemptAt {
                    _ = try transaction.change(
                        result.message, attempts: result.message.attempts, nextAttemptAt: next,
                        outcome: result.outcome.code)
                } else {
                    try transaction.delete(result.message)
                }
            }
        }
    }

    /// Deletes notifications that no attempt has deleted: those to a server that the settings no longer name.
    package func deleteExpired() async throws -> Bool {
        // A day more than the last attempt of a present server.
        let moment = clock.now().adding(days: -Self.retention - 1)
        return try await ledger.write {
            try $0.deleteForwards(queuedBefore: moment, limit: Self.deletedAtOnce)
        } == Self.deletedAtOnce
    }

    /// The waiting notifications of each server.
    package func waiting() async throws -> [WaitingForwards] {
        try await ledger.read { transaction in try targets.map { try transaction.waitingForwards(to: $0) } }
    }
}

/// A server that receives a copy of each notification, or of each about some apps.
package struct ForwardingTarget: Hashable, DeliveryEndpoint {
    /// The address, which may have a secret in its path.
    package let url: String
    /// The host and the port, without the path.
    package let host: String
    /// The bundle identifiers of the apps whose notifications it receives; nil for all.
    package private(set) var apps: Set<String>?

    package init(_ url: WebhookURL, apps: Set<String>? = nil) {
        self.url = url.text
        host = url.host + (url.port == 443 ? "" : ":\(url.port)")
        self.apps = apps
    }

    /// Lets the server receive the notifications of further apps.
    ///
    /// - Returns: False if it receives those of one of them already.
    package mutating func receive(_ further: Set<String>) -> Bool {
        guard let known = apps, known.isDisjoint(with: further) else { return false }
        apps = known.union(further)
        return true
    }

    /// The beginning of the address's SHA-256, so that the ledger and its backups have no secret.
    package var identifier: String {
        String(DigestAlgorithm.sha256.digest(of: Array(url.utf8)).hexadecimal.prefix(24))
    }
}

/// A notification on its way to a server.
package struct ForwardedNotification: Hashable, DeliveryMessage {
    package let notificationUUID: String
    let origin: Origin
    package let target: ForwardingTarget
    package let queuedAt: Timestamp
    /// The number of attempts, with one that is under way.
    package fileprivate(set) var attempts: Int
    package fileprivate(set) var nextAttemptAt: Timestamp
    /// The request as the App Store has sent it.
    package let body: [UInt8]

    /// The primary key.
    var key: [any SQLConvertible] { [notificationUUID, origin, target.identifier] }

    package var event: String { "\(origin.rawValue) \(notificationUUID)" }

    package var logged: [(name: String, value: String)] {
        [("host", target.host), ("notification", notificationUUID)]
    }
}

/// The notifications that wait for a server.
package struct WaitingForwards: Hashable, Sendable {
    /// The largest count. A greater number has this count.
    package static let maximumCount = 10_000

    package let target: ForwardingTarget
    package let count: Int
    /// The time since which the oldest one waits; nil for none.
    package let since: Timestamp?
    /// The code of the last attempt's outcome with the oldest one; nil without an attempt.
    package let lastOutcome: String?
}

/// The SQL of forwarded notifications.
extension LedgerTransaction {
    fileprivate func hasReceived(_ notification: NotificationRecord) throws -> Bool {
        try database.hasRow(
            "SELECT 1 FROM notification WHERE notification_uuid = $1 AND origin = $2",
            [notification.notificationUUID, notification.origin])
    }

    fileprivate func queue(
        _ notification: NotificationRecord,
        body: [UInt8],
        for targets: [ForwardingTarget],
        at moment: Timestamp
    ) throws {
        try database.insert(
            into: "notification_forward",
            ["notification_uuid", "origin", "target", "queued_at", "attempts", "next_attempt_at", "body"],
            targets.map {
                [
                    notification.notificationUUID, notification.origin, $0.identifier, moment, 0,
                    WebhookDelivery.atOnce, body,
                ]
            }, isNew: false)
    }

    fileprivate func hasDueForward(to target: ForwardingTarget, at moment: Timestamp) throws -> Bool {
        try database.hasRow(
            "SELECT 1 FROM notification_forward WHERE target = $1 AND next_attempt_at <= $2 LIMIT 1",
            [target.identifier, moment])
    }

    fileprivate func dueForwards(
        to target: ForwardingTarget,
        at moment: Timestamp,
        limit: Int
    ) throws -> [ForwardedNotification] {
        try database.rows(
            """
            SELECT notification_uuid, origin, queued_at, attempts, next_attempt_at, body FROM notification_forward
            WHERE target = $1 AND next_attempt_at <= $2 ORDER BY next_attempt_at, queued_at LIMIT $3
            """,
            [target.identifier, moment, limit]
        ) { row in
            ForwardedNotification(
                notificationUUID: try row.next(), origin: try row.next(), target: target, queuedAt: try row.next(),
                attempts: try row.next(), nextAttemptAt: try row.next(), body: try row.next())
        }
    }

    /// - Parameter outcome: The code of the last attempt's outcome; nil leaves it as it is.
    /// - Returns: False if another service has leased the notification meanwhile, or it is delivered.
    fileprivate func change(
        _ message: ForwardedNotification,
        attempts: Int,
        nextAttemptAt: Timestamp,
        outcome: String? = nil
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE notification_forward
            SET attempts = $1, next_attempt_at = $2, last_outcome = coalesce($3, last_outcome)
            WHERE notification_uuid = $4 AND origin = $5 AND target = $6 AND next_attempt_at = $7
            """,
            [attempts, nextAttemptAt, outcome] + message.key + [message.nextAttemptAt]) == 1
    }

    fileprivate func delete(_ message: ForwardedNotification) throws {
        try database.execute(
            """
            DELETE FROM notification_forward
            WHERE notification_uuid = $1 AND origin = $2 AND target = $3 AND next_attempt_at = $4
            """,
            message.key + [message.nextAttemptAt])
    }

    fileprivate func deleteForwards(queuedBefore moment: Timestamp, limit: Int) throws -> Int {
        let old: [[SQLValue]] = try database.rows(
            """
            SELECT notification_uuid, origin, target FROM notification_forward WHERE queued_at < $1
            ORDER BY queued_at LIMIT $2
            """,
            [moment, limit]
        ) { [try $0.nextValue(), try $0.nextValue(), try $0.nextValue()] }
        try database.delete(from: "notification_forward", where: ["notification_uuid", "origin", "target"], old)
        return old.count
    }

    fileprivate func waitingForwards(to target: ForwardingTarget) throws -> WaitingForwards {
        let count: Int = try database.single(
            """
            SELECT count(*) FROM (SELECT 1 FROM notification_forward WHERE target = $1 LIMIT $2) AS counted
            """,
            [target.identifier, WaitingForwards.maximumCount])
        let oldest = try database.row(
            """
            SELECT queued_at, last_outcome FROM notification_forward WHERE target = $1
            ORDER BY next_attempt_at, queued_at LIMIT 1
            """,
            [target.identifier]
        ) { (queuedAt: try $0.next() as Timestamp, outcome: try $0.next() as String?) }
        return WaitingForwards(
            target: target, count: count, since: oldest?.queuedAt, lastOutcome: oldest?.outcome)
    }
}

extension LedgerFeature {
    /// The notifications of the App Store that wait to be forwarded to further servers.
    package static let forwarding = LedgerFeature(tables: [.notificationForward])
}

extension Table {
    /// The waiting notifications, one for each server. A delivered one is deleted. `target`: `ForwardingTarget.identifier`;
    /// `body`: the request as the App Store has sent it; `last_outcome`: the code of the last attempt's outcome.
    fileprivate static let notificationForward = Table(
        name: "notification_forward", family: .globalKey,
        columns: [
            .text("notification_uuid"), .origin("origin"), .text("target"), .integer("queued_at"),
            .integer("attempts", check: "attempts >= 0"), .integer("next_attempt_at"), .text("last_outcome").optional,
            .blob("body"),
        ],
        key: ["notification_uuid", "origin", "target"], hasLargeRows: true
    )
    .indexed("notification_forward_due", by: ["target", "next_attempt_at", "queued_at"])
    .indexed("notification_forward_by_age", by: ["queued_at"])
    .takingBack("next_attempt_at", within: WebhookSchedule.longestPause)
}
