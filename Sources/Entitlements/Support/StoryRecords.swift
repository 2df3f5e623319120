import Commerce
import Ledger

/// The SQL of a user's story, inside the caller's transaction.
struct StoryRecords {
    let database: any LedgerDatabase

    /// The events of a user's audit log before a position, newest first.
    func events(
        of user: Int64,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [(entry: AuditEntry, number: Int64)] {
        try database.rows(
            """
            SELECT * FROM audit WHERE user_id = $1 AND (happened_at, number) < ($2, $3)
            ORDER BY happened_at DESC, number DESC LIMIT $4
            """,
            [user, Self.moment(position), position.map(\.number) ?? .max, limit]
        ).map { row in
            let record = try AuditRecord(row)
            return (record.entry, record.number)
        }
    }

    /// The newest event of a user that refused or transferred a purchase of one of some products.
    func lastLoss(of user: Int64, ofProducts products: [String]) throws -> AuditEntry? {
        let events = [AuditEntry.Event.refused, .transferredOut].map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try database.row(
            """
            SELECT * FROM audit WHERE user_id = $1 AND event IN (\(events)) AND subject \(database.isIn("$2"))
            ORDER BY happened_at DESC, number DESC LIMIT 1
            """,
            [user, database.list(products)]
        ).map { try AuditRecord($0).entry }
    }

    /// The notifications about a user's purchases before a position, newest first.
    func notifications(
        of user: Int64,
        before position: StoryEntry.Position?,
        limit: Int
    ) throws -> [StatedNotification] {
        // An event follows the notifications of its millisecond.
        let identifier = position.flatMap { $0.number > 0 ? nil : $0.notificationUUID }
        return try database.rows(
            """
            SELECT notification.* FROM (
                SELECT DISTINCT original_transaction_id, origin, app FROM redeemed_transaction WHERE user_id = $1
            ) AS bought JOIN notification \(database.indexed(by: "notification_of_original"))
                ON notification.original_transaction_id = bought.original_transaction_id
                AND notification.origin = bought.origin AND notification.app = bought.app
            WHERE \(identifier == nil ? "signed_at <= $2" : "(signed_at, notification_uuid) < ($2, $3)")
            ORDER BY signed_at DESC, notification_uuid DESC LIMIT $\(identifier == nil ? 3 : 4)
            """,
            [user, Self.moment(position)] + (identifier.map { [$0] } ?? []) + [limit]
        ).map(SupportRecords.notification)
    }

    private static func moment(_ position: StoryEntry.Position?) -> Timestamp {
        position?.happenedAt ?? Timestamp(millisecondsSince1970: .max)
    }
}
