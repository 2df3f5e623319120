import Ledger
import Proofs

/// The received notifications of all apps.
extension LedgerTransaction {
    private func received() throws -> ReceivedNotificationRecords {
        ReceivedNotificationRecords(
            database: database, users: users, apps: try AppRecords(database: database).numbers(of: []))
    }

    /// The received notifications, newest first.
    ///
    /// - Parameter position: The position after which the page begins; nil for the first page.
    /// - Returns: At most `limit` notifications, and the position of the next page; nil for the last page. A page may have
    ///   fewer notifications, even none, although there is a next one.
    package func notifications(
        _ filter: ReceivedNotificationFilter,
        before position: ReceivedNotification.Position?,
        limit: Int
    ) throws -> (shown: [ReceivedNotification], next: ReceivedNotification.Position?) {
        try received().notifications(filter, before: position, limit: limit)
    }

    /// The notification of an identifier; nil if the origin has none.
    package func notification(_ identifier: String, of origin: Origin) throws -> ReceivedNotification? {
        try received().notifications(identifier).first { $0.notification.origin == origin }
    }
}
