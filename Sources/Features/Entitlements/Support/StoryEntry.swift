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
