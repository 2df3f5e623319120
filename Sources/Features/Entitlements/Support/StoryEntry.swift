import Ledger
import Proofs

/// An entry of a user's story: an action of the App Store, the user or the team, or an effect of time.
package struct StoryEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// - number: The number in the audit log.
        /// - otherOwner: The owner of a purchase that was refused to the user; nil for another event.
        case event(AuditEntry, number: Int64, otherOwner: User?)
        case notification(StatedNotification)
    }

    package let content: Content

    package init(_ content: Content) {
        self.content = content
    }

    /// The time at which the entry took effect; for a notification, the time of its signature.
    package var happenedAt: Timestamp {
        switch content {
        case .event(let entry, _, _): entry.happenedAt
        case .notification(let notification): notification.signedAt
        }
    }

    /// The position of an entry: by its time, then notifications before the events that they cause, then by its number or
    /// identifier.
    package struct Position: Hashable, Sendable, Comparable, CustomStringConvertible {
        let happenedAt: Timestamp
        /// 0 for a notification, the number for an event.
        let number: Int64
        /// Empty for an event.
        let notificationUUID: String

        package static func < (left: Position, right: Position) -> Bool {
            if left.happenedAt != right.happenedAt { return left.happenedAt < right.happenedAt }
            if left.number != right.number { return left.number < right.number }
            return ByteKey(left.notificationUUID) < ByteKey(right.notificationUUID)
        }

        package var description: String { "\(happenedAt.millisecondsSince1970) \(number) \(notificationUUID)" }
    }

    package var position: Position {
        switch content {
        case .event(let entry, let number, _):
            Position(happenedAt: entry.happenedAt, number: number, notificationUUID: "")
        case .notification(let notification):
            Position(happenedAt: notification.signedAt, number: 0, notificationUUID: notification.notificationUUID)
        }
    }
}

extension StoryEntry.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = Int64(parts[0]), let number = Int64(parts[1]) else { return nil }
        self.init(
            happenedAt: Timestamp(millisecondsSince1970: milliseconds), number: number,
            notificationUUID: String(parts[2]))
    }
}

extension StoryEntry {
    /// The entry as a sentence.
    package var sentence: String {
        switch content {
        case .event(let entry, _, _): Self.sentence(entry)
        case .notification(let notification): Self.sentence(notification)
        }
    }

    private static func sentence(_ entry: AuditEntry) -> String {
        let (subject, reference) = (entry.subject, entry.reference)
        let reason = entry.reason.map { ": \($0)" } ?? "."
        return switch entry.event {
        case .granted: "Transaction \(reference) grants \(subject)."
        case .revoked: "Transaction \(reference) of \(subject) was revoked\(reason)"
        case .productChanged: "\(entry.reason ?? "Another product") replaced \(subject) of transaction \(reference)."
        case .refused: "Transaction \(reference) of \(subject) was refused\(reason)"
        case .transferredIn:
            "Purchase \(reference) of \(subject) came from \(entry.reason.map { "the anonymous customer \($0)" } ?? "another user")."
        case .transferredOut: "Purchase \(reference) of \(subject) went to another user."
        case .itemGiven: "The team granted \(subject)\(reason)"
        case .itemTakenBack: "The team revoked a grant of \(subject)\(reason)"
        case .assigned: "The team assigned the unclaimed transaction \(reference) of \(subject)\(reason)"
        case .credited: "The team added \(subject)\(reason)"
        case .spent: "\(subject) were spent\(reason)"
        case .expired: "\(subject) expired\(reason)"
        case .renewalFailed: "The renewal of \(subject) could not be charged. Apple retries."
        case .gracePeriodBegan: "The renewal of \(subject) could not be charged. The grace period began."
        case .autoRenewDisabled: "The customer turned the renewal of \(subject) off."
        case .autoRenewEnabled: "The customer turned the renewal of \(subject) on."
        case .aliased where subject == "customer":
            "The anonymous customer\(entry.reason.map { " \($0)" } ?? "") logged in and became one with this user."
        case .aliased: "The anonymous id\(entry.reason.map { " \($0)" } ?? "") logged in as this user."
        case .erased: "The user was erased."
        }
    }

    private static func sentence(_ notification: StatedNotification) -> String {
        let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return "Apple notified of \(type): \(notification.outcome.rawValue)."
    }
}

/// A notification of the App Store about a purchase, as the ledger stores it.
package struct StatedNotification: Hashable, Sendable {
    package let notificationUUID: String
    package let origin: Origin
    /// The type, in Apple's words.
    package let type: String
    package let subtype: String?
    package let transactionIdentifier: String?
    package let originalTransactionIdentifier: String?
    package let signedAt: Timestamp
    package let receivedAt: Timestamp
    package let outcome: NotificationOutcome
    /// The decoded notification as JSON, without the proofs inside it; nil if it was too long.
    package let content: String?
}

/// The SQL of a user's story, inside the caller's transaction.
struct StoryRecords {
    let database: any LedgerDatabase

    /// The events of a user's audit log before a position, newest first.
    ///
    /// - Parameter app: The bundle identifier of an app, for only the events of its purchases; nil for all events.
    func events(
        of user: Int64,
        in app: String?,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [(entry: AuditEntry, number: Int64)] {
        try database.rows(
            """
            SELECT * FROM audit WHERE user_id = $1 AND (happened_at, number) < ($2, $3)
                \(app == nil ? "" : "AND app = $4")
            ORDER BY happened_at DESC, number DESC LIMIT $\(app == nil ? 4 : 5)
            """,
            [user, Self.moment(position), position.map(\.number) ?? .max] + (app.map { [$0] } ?? []) + [limit]
        ).map { row in
            let record = try AuditRecord(row)
            return (record.entry, record.number)
        }
    }

    /// The newest event of a user that refused or transferred a purchase of one of some products.
    ///
    /// - Parameter app: The bundle identifier of the purchase's app; nil for all apps.
    func lastLoss(of user: Int64, ofProducts products: [String], in app: String? = nil) throws -> AuditEntry? {
        let events = [AuditEntry.Event.refused, .transferredOut].map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try database.row(
            """
            SELECT * FROM audit WHERE user_id = $1 AND event IN (\(events)) AND subject \(database.isIn("$2"))
                \(app == nil ? "" : "AND app = $3")
            ORDER BY happened_at DESC, number DESC LIMIT 1
            """,
            [user, database.list(products)] + (app.map { [$0] } ?? [])
        ).map { try AuditRecord($0).entry }
    }

    /// The notifications about a user's purchases before a position, newest first.
    ///
    /// - Parameter app: The bundle identifier of the purchases' app; nil for all apps.
    func notifications(
        of user: Int64,
        in app: String?,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [StatedNotification] {
        // An event follows the notifications of its millisecond.
        let identifier = position.flatMap { $0.number > 0 ? nil : $0.notificationUUID }
        let (start, ofApp) = (
            app == nil ? 2 : 3, app == nil ? "" : "AND app = (SELECT app FROM app WHERE bundle_id = $2)"
        )
        return try database.rows(
            """
            SELECT notification.* FROM (
                SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction
                WHERE user_id = $1 \(ofApp)
            ) AS bought JOIN notification \(database.indexed(by: "notification_of_original"))
                ON notification.original_transaction_id = bought.original_transaction_id
                AND notification.origin = bought.origin AND notification.app = bought.app
            WHERE \(identifier == nil ? "signed_at <= $\(start)" : "(signed_at, notification_uuid) < ($\(start), $\(start + 1))")
            ORDER BY signed_at DESC, notification_uuid DESC LIMIT $\(identifier == nil ? start + 1 : start + 2)
            """,
            [user] + (app.map { [$0] } ?? []) + [Self.moment(position)] + (identifier.map { [$0] } ?? []) + [limit]
        ).map(SupportRecords.notification)
    }

    private static func moment(_ position: StoryEntry.Position?) -> Timestamp {
        position?.happenedAt ?? Timestamp(millisecondsSince1970: .max)
    }
}
