import Ledger
import Proofs

/// A notification that the service received, of any app and about any purchase.
package struct ReceivedNotification: Hashable, Sendable {
    /// The position of a notification in the order of the receipts: the time of the receipt in milliseconds, the origin, and the
    /// UUID.
    package typealias Position = PagePosition<Int64, String, String>

    /// The time after which the App Store's first attempt must have failed: it repeats a notification after an hour (App Store
    /// Server Notifications, "Responding to App Store Server Notifications").
    static let usualDelay: Int64 = 60 * 60 * 1000
    /// The time for which the App Store waits for the answer to a consumption request, in seconds.
    package static let answerTime: Int64 = 12 * 60 * 60

    /// The bundle identifier of the app.
    package let app: String
    package let notification: StatedNotification
    /// The present owner of the purchase; nil if nobody has redeemed it, or the owner was erased.
    package let owner: User?
    /// The time of the second receipt; nil if the notification was received once.
    package let repeatedAt: Timestamp?
    /// The time at which a consumption request was answered or refused; nil for an open one.
    package let settledAt: Timestamp?

    /// True if the notification came an hour or more after its signature, so by a repetition or a reconciliation.
    package var isLate: Bool {
        notification.receivedAt.millisecondsSince1970 - notification.signedAt.millisecondsSince1970 >= Self.usualDelay
    }

    package var position: Position {
        Position(
            notification.receivedAt.millisecondsSince1970, notification.origin.rawValue, notification.notificationUUID)
    }
}

/// The received notifications of all apps.
extension LedgerTransaction {
    /// The number of notifications that one page reads at most. A rare combination of conditions may need several pages.
    private static let notificationWindow = 1000

    /// The received notifications, newest first.
    ///
    /// A type or a rare outcome uses its index. The other conditions select among the next notifications of that index, or
    /// among the latest ones.
    ///
    /// - Parameters:
    ///   - type: The type, in Apple's words; nil for all, like the other conditions.
    ///   - app: The bundle identifier of the app.
    ///   - position: The position after which the page begins; nil for the first page.
    /// - Returns: At most `limit` notifications, and the position of the next page; nil for the last page. A page may have
    ///   fewer notifications, even none, although there is a next one.
    package func notifications(
        ofType type: String? = nil,
        outcome: NotificationOutcome? = nil,
        in app: String? = nil,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        let apps = try apps
        let chosen = app.flatMap { apps[$0] }
        guard app == nil || chosen != nil else { return ([], nil) }
        let (index, condition, value): (String, String, String?) =
            if let type {
                ("notification_of_type", "type = $1 AND", type)
            } else if let outcome, !NotificationOutcome.frequent.contains(outcome) {
                ("notification_of_outcome", "outcome = $1 AND \(Table.rareOutcome) AND", outcome.rawValue)
            } else {
                ("notification_by_receipt", "", nil)
            }
        let first = value == nil ? 1 : 2
        // Without another condition, the page is all that has to be read.
        let isExact = app == nil && (outcome == nil || index == "notification_of_outcome")
        let size = isExact ? limit + 1 : Self.notificationWindow
        let rows = try database.rows(
            """
            SELECT * FROM notification \(database.indexed(by: index))
            WHERE \(condition) (received_at, notification_uuid, origin) < ($\(first), $\(first + 1), $\(first + 2))
            ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT $\(first + 3)
            """,
            (value.map { [$0] } ?? []) as [any SQLConvertible] + [
                position?.first ?? .max, position?.third ?? "", position?.second ?? "", size,
            ])
        var shown: [SQLRow] = []
        var last: SQLRow?
        for row in rows {
            guard shown.count < limit else { return (try received(shown, apps), try last.map(Self.position)) }
            last = row
            let (number, stated): (Int64, String) = (try row["app"], try row["outcome"])
            if (chosen ?? number) == number, (outcome?.rawValue ?? stated) == stated { shown.append(row) }
        }
        return (try received(shown, apps), rows.count < size ? nil : try last.map(Self.position))
    }

    /// The notification of an identifier; nil if the origin has none.
    package func notification(_ identifier: String, of origin: Origin) throws -> ReceivedNotification? {
        let rows = try database.rows(
            "SELECT * FROM notification WHERE notification_uuid = $1 AND origin = $2", [identifier, origin])
        return try received(rows, try apps).first
    }

    private static func position(_ row: SQLRow) throws -> ReceivedNotification.Position {
        let receivedAt: Timestamp = try row["received_at"]
        return .init(receivedAt.millisecondsSince1970, try row["origin"], try row["notification_uuid"])
    }

    private func received(_ rows: [SQLRow], _ apps: AppNumbers) throws -> [ReceivedNotification] {
        let owners = try owners(ofNotifications: rows)
        return try rows.map { row in
            ReceivedNotification(
                app: try apps.bundleIdentifier(row), notification: try StatedNotification(row),
                owner: owners[try row.values(Table.originalKey)], repeatedAt: try row["repeated_at"],
                settledAt: try row["settled_at"])
        }
    }

    /// The owners of the purchases of notifications, by the purchases' keys.
    private func owners(ofNotifications rows: [SQLRow]) throws -> [[SQLValue]: User] {
        let originals = try rows.compactMap { try $0["original_transaction_id"] as String? }
        guard !originals.isEmpty else { return [:] }
        let found = try database.rows(
            """
            SELECT original_transaction_id, origin, app, user_id FROM original
            WHERE original_transaction_id \(database.isIn("$1"))
            """,
            [database.list(eachOf: originals)])
        let names = try presentNames(of: Set(found.map { try $0["user_id"] as Int64 }))
        var owners: [[SQLValue]: User] = [:]
        for row in found { owners[try row.values(Table.originalKey)] = names[try row["user_id"] as Int64] }
        return owners
    }
}
