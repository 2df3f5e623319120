import Ledger
import Proofs
import Vocabulary

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
    package fileprivate(set) var owner: User?
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

extension ReceivedNotification {
    fileprivate static let columns = "app, \(StatedNotification.columns), repeated_at, settled_at"

    /// The notification in the next columns, which are `columns`, without the owner.
    fileprivate init(_ row: inout ResultRow, _ apps: AppNumbers) throws {
        self.init(
            app: try apps.bundleIdentifier(of: try row.next()), notification: try StatedNotification(&row),
            repeatedAt: try row.next(), settledAt: try row.next())
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
    ///   - type: The type, in the words of the store; nil for all, like the other conditions.
    ///   - app: The bundle identifier of the app.
    ///   - position: The position after which the page begins; nil for the first page.
    /// - Returns: At most `limit` notifications, and the position of the next page; nil for the last page. A page may have
    ///   fewer notifications, even none, although there is a next one.
    package func notifications(
        ofType type: String? = nil,
        outcome: NotificationOutcome? = nil,
        in app: String? = nil,
        from store: PurchaseStore? = nil,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        let apps = try apps
        if let app, apps[app] == nil { return ([], nil) }
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
        let isExact = app == nil && store == nil && (outcome == nil || index == "notification_of_outcome")
        let size = isExact ? limit + 1 : Self.notificationWindow
        let rows = try database.rows(
            """
            SELECT \(ReceivedNotification.columns) FROM notification \(database.indexed(by: index))
            WHERE \(condition) (received_at, notification_uuid, origin) < ($\(first), $\(first + 1), $\(first + 2))
            ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT $\(first + 3)
            """,
            (value.map { [$0] } ?? []) as [any SQLConvertible] + [
                position?.first ?? .max, position?.third ?? "", Origin.number(ofText: position?.second), size,
            ]
        ) { try ReceivedNotification(&$0, apps) }
        var shown: [ReceivedNotification] = []
        var last: ReceivedNotification.Position?
        for received in rows {
            guard shown.count < limit else { return (try owned(shown, apps), last) }
            last = received.position
            if app.map(received.app.hasSameBytes(as:)) ?? true,
                outcome == nil || received.notification.outcome == outcome,
                store == nil || received.notification.origin.store == store
            {
                shown.append(received)
            }
        }
        return (try owned(shown, apps), rows.count < size ? nil : last)
    }

    /// The notification of an identifier; nil if the origin has none.
    package func notification(_ identifier: String, of origin: Origin) throws -> ReceivedNotification? {
        let apps = try apps
        let found = try database.rows(
            "SELECT \(ReceivedNotification.columns) FROM notification WHERE notification_uuid = $1 AND origin = $2",
            [identifier, origin]
        ) { try ReceivedNotification(&$0, apps) }
        return try owned(found, apps).first
    }

    private func owned(_ notifications: [ReceivedNotification], _ apps: AppNumbers) throws -> [ReceivedNotification] {
        let originals = notifications.compactMap(\.notification.originalTransactionIdentifier)
        guard !originals.isEmpty else { return notifications }
        let owners: [TransactionKey: Int64] = try database.dictionary(
            """
            SELECT transaction_id, origin, app, owner_id FROM claim
            WHERE owner_id IS NOT NULL AND transaction_id \(database.isIn(packed: "$1"))
            """,
            [database.list(eachPacked: originals)]
        ) { (try apps.key(&$0), try $0.next()) }
        let names = try presentNames(of: Set(owners.values))
        return notifications.map { received in
            var received = received
            let (app, origin) = (received.app, received.notification.origin)
            received.owner = received.notification.originalTransactionIdentifier
                .flatMap { owners[TransactionKey(app: app, origin: origin, identifier: $0)] }.flatMap { names[$0] }
            return received
        }
    }
}
