import Ledger
import Proofs

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
