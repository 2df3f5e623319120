import Ledger
import Proofs

/// A notification that the service received, of any app and about any purchase.
package struct ReceivedNotification: Hashable, Sendable {
    /// The position of a notification in the order of the receipts.
    package struct Position: Hashable, Sendable {
        package let receivedAt: Timestamp
        package let notificationUUID: String
        package let origin: String

        package init(receivedAt: Timestamp, notificationUUID: String, origin: String) {
            self.receivedAt = receivedAt
            self.notificationUUID = notificationUUID
            self.origin = origin
        }
    }

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
            receivedAt: notification.receivedAt, notificationUUID: notification.notificationUUID,
            origin: notification.origin.rawValue)
    }
}

/// The conditions of a list of received notifications. Nil accepts every value.
package struct ReceivedNotificationFilter: Hashable, Sendable {
    /// The type, in Apple's words.
    package let type: String?
    package let outcome: NotificationOutcome?
    /// The bundle identifier of the app.
    package let app: String?

    package init(type: String? = nil, outcome: NotificationOutcome? = nil, app: String? = nil) {
        self.type = type
        self.outcome = outcome
        self.app = app
    }
}

/// The SQL of the received notifications, inside the caller's transaction.
struct ReceivedNotificationRecords {
    let database: any LedgerDatabase
    let users: UserRecords
    let apps: AppNumbers

    /// The number of notifications that one page reads at most. A rare combination of conditions may need several pages.
    static let window = 1000

    /// The notifications before a position, newest first.
    ///
    /// A type or a rare outcome uses its index. The other conditions select among the next notifications of that index, or
    /// among the latest ones.
    ///
    /// - Returns: The notifications, and the position of the last one that was read; nil if there are no others.
    func notifications(
        _ filter: ReceivedNotificationFilter,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        var app: Int64?
        if let name = filter.app {
            guard let number = apps[name] else { return ([], nil) }
            app = number
        }
        let (index, condition, value): (String, String, String?) =
            if let type = filter.type {
                ("notification_of_type", "type = $1 AND", type)
            } else if let outcome = filter.outcome, !NotificationOutcome.frequent.contains(outcome) {
                ("notification_of_outcome", "outcome = $1 AND \(Table.rareOutcome) AND", outcome.rawValue)
            } else {
                ("notification_by_receipt", "", nil)
            }
        let first = value == nil ? 1 : 2
        let end = Timestamp(millisecondsSince1970: .max)
        // Without another condition, the page is all that has to be read.
        let isExact = app == nil && (filter.outcome == nil || index == "notification_of_outcome")
        let size = isExact ? limit + 1 : Self.window
        let rows = try database.rows(
            """
            SELECT * FROM notification \(database.indexed(by: index))
            WHERE \(condition) (received_at, notification_uuid, origin) < ($\(first), $\(first + 1), $\(first + 2))
            ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT $\(first + 3)
            """,
            (value.map { [$0] } ?? []) as [any SQLConvertible] + [
                position?.receivedAt ?? end, position?.notificationUUID ?? "", position?.origin ?? "", size,
            ])
        var shown: [SQLRow] = []
        var last: SQLRow?
        for row in rows {
            guard shown.count < limit else { return (try received(shown), try last.map(Self.position)) }
            last = row
            if try matches(row, app: app, filter.outcome) { shown.append(row) }
        }
        return (try received(shown), rows.count < size ? nil : try last.map(Self.position))
    }

    /// The notification of an identifier, from each origin that has it.
    func notifications(_ identifier: String) throws -> [ReceivedNotification] {
        try received(
            try database.rows("SELECT * FROM notification WHERE notification_uuid = $1 ORDER BY origin", [identifier]))
    }

    private func matches(_ row: SQLRow, app: Int64?, _ outcome: NotificationOutcome?) throws -> Bool {
        let (number, text): (Int64, String) = (try row["app"], try row["outcome"])
        return (app ?? number) == number && (outcome == nil || outcome?.rawValue == text)
    }

    private static func position(_ row: SQLRow) throws -> ReceivedNotification.Position {
        ReceivedNotification.Position(
            receivedAt: try row["received_at"], notificationUUID: try row["notification_uuid"],
            origin: try row["origin"])
    }

    private func received(_ rows: [SQLRow]) throws -> [ReceivedNotification] {
        let owners = try owners(of: rows)
        return try rows.map { row in
            ReceivedNotification(
                app: try apps.bundleIdentifier(row), notification: try SupportRecords.notification(row),
                owner: owners[try row.values(Table.originalKey)], repeatedAt: try row["repeated_at"],
                settledAt: try row["settled_at"])
        }
    }

    /// The owners of the purchases of notifications, by the purchases' keys.
    private func owners(of rows: [SQLRow]) throws -> [[SQLValue]: User] {
        let originals: [String?] = try rows.map { try $0["original_transaction_id"] }
        let identifiers = Set(originals.compactMap { $0.map { ByteKey($0) } }).sorted().map(\.text)
        guard !identifiers.isEmpty else { return [:] }
        let found = try database.rows(
            """
            SELECT original_transaction_id, origin, app, user_id FROM original
            WHERE original_transaction_id \(database.isIn("$1"))
            """,
            [database.list(identifiers)])
        let names = try users.names(of: Set(found.map { try $0["user_id"] as Int64 }))
        var owners: [[SQLValue]: User] = [:]
        for row in found {
            guard let user = names[try row["user_id"] as Int64], user.issuer != User.erasedIssuer else { continue }
            owners[try row.values(Table.originalKey)] = user
        }
        return owners
    }
}
