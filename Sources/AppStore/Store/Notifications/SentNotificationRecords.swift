import Foundation
import GRDB
import HTTPSupport
import Proofs

/// The SQL statements on notifications. They run inside the caller's transaction of the store's database.
package struct SentNotificationRecords {
    let database: Database

    func add(_ notification: StoreNotification, fault: NotificationFault?) throws {
        try database.insert(
            [
                "uuid": notification.notificationUUID.uuidString, "type": notification.type.rawValue,
                "subtype": notification.subtype?.rawValue, "transaction_id": notification.transactionIdentifier,
                "original_transaction_id": notification.originalTransactionIdentifier, "date": notification.date,
                "payload": notification.signedPayload, "next_attempt_date": notification.nextAttemptDate,
                "comes_after_next": fault == .reorder, "repeats": fault == .duplicate ? 1 : 0,
            ], into: "notification")
    }

    /// Clears the request to send a notification once more.
    ///
    /// - Returns: True if there was such a request.
    func dequeueRepeat(of notificationUUID: UUID) throws -> Bool {
        try database.execute(
            literal: """
                UPDATE notification SET repeats = repeats - 1
                WHERE uuid = \(notificationUUID.uuidString) AND repeats > 0
                """)
        return database.changesCount > 0
    }

    func send(_ notificationUUID: UUID, at moment: Timestamp) throws {
        try database.execute(
            literal:
                "UPDATE notification SET next_attempt_date = \(moment) WHERE uuid = \(notificationUUID.uuidString)")
    }

    /// Adds a delivery attempt and the date of the next one, unless a replay was requested meanwhile.
    func add(_ result: SendAttemptResult, at date: Timestamp, to notificationUUID: UUID, next: Timestamp?) throws {
        let uuid = notificationUUID.uuidString
        try database.insert(
            ["notification_uuid": uuid, "date": date, "result": result.rawValue], into: "send_attempt")
        try database.execute(
            literal: """
                UPDATE notification SET next_attempt_date = \(next) WHERE uuid = \(uuid) AND next_attempt_date = \(date)
                """)
    }

    package func notification(_ notificationUUID: UUID) throws -> StoreNotification? {
        try fetch("uuid = \(notificationUUID.uuidString)").first
    }

    /// All notifications, or those from one date until before another, in the order of their creation.
    package func notifications(in dates: Range<Timestamp>? = nil) throws -> [StoreNotification] {
        guard let dates else { return try fetch("true ORDER BY rowid") }
        return try fetch("date >= \(dates.lowerBound) AND date < \(dates.upperBound) ORDER BY rowid")
    }

    /// The notifications of some types about the accounts of a clock, from one date until before another, the oldest first.
    ///
    /// - Parameter account: The account; nil for all that follow the store's clock.
    func notifications(
        _ types: [NotificationTypeV2],
        from start: Timestamp,
        until end: Timestamp,
        of account: String?,
        limit: Int
    ) throws -> [StoreNotification] {
        try fetch(
            """
            date >= \(start) AND date < \(end) AND type IN \(types.map(\.rawValue))
                AND \(Self.follows(account)) ORDER BY date, rowid LIMIT \(limit)
            """)
    }

    /// A page of notifications, newest first.
    ///
    /// - Parameter number: The number of the last notification of the previous page; nil for the first page.
    package func page(before number: Int64? = nil, limit: Int) throws -> [StoreNotification] {
        try fetch("rowid < \(number ?? .max) ORDER BY rowid DESC LIMIT \(limit)")
    }

    /// The first notification that is due. A reordered one waits until its follower was sent or will never be sent.
    ///
    /// - Parameters:
    ///   - now: The time of the store's clock.
    ///   - clocks: The clocks of the accounts that do not follow it.
    func firstDue(at now: Timestamp, _ clocks: ClockRecords) throws -> StoreNotification? {
        let latest = max(now, try clocks.latestTime() ?? now)
        return try fetch(
            """
            next_attempt_date <= \(latest) AND next_attempt_date <= coalesce((
                SELECT \(clocks.machineTime) + time_offset FROM app_store_transaction JOIN account_clock USING (account)
                WHERE transaction_id = notification.transaction_id), \(now)) AND (NOT comes_after_next OR EXISTS (
                SELECT * FROM notification AS follower
                WHERE follower.rowid = (SELECT min(rowid) FROM notification AS later WHERE later.rowid > notification.rowid)
                    AND (follower.next_attempt_date IS NULL
                        OR follower.uuid IN (SELECT notification_uuid FROM send_attempt))))
            ORDER BY next_attempt_date, rowid LIMIT 1
            """
        ).first
    }

    /// The date of the first attempt after a moment, of the notifications about the accounts of a clock.
    ///
    /// - Parameter account: The account; nil for all that follow the store's clock, and for notifications about no account.
    func nextAttemptDate(after moment: Timestamp, of account: String?) throws -> Timestamp? {
        try SQLRequest<Timestamp>(
            """
            SELECT min(next_attempt_date) FROM notification
            WHERE next_attempt_date > \(moment) AND \(Self.follows(account))
            """
        ).fetchOne(database)
    }

    /// The condition of notifications about the accounts of a clock.
    private static func follows(_ account: String?) -> SQL {
        guard let account else {
            return """
                NOT EXISTS (
                    SELECT * FROM app_store_transaction JOIN account_clock USING (account)
                    WHERE transaction_id = notification.transaction_id)
                """
        }
        return """
            EXISTS (
                SELECT * FROM app_store_transaction
                WHERE transaction_id = notification.transaction_id AND account = \(account))
            """
    }

    private func fetch(_ condition: SQL) throws -> [StoreNotification] {
        try SQLRequest<Row>("SELECT rowid AS number, * FROM notification WHERE \(condition)").fetchAll(database)
            .compactMap { row in
                guard var notification = StoreNotification(row) else { return nil }
                notification.sendAttempts = try SQLRequest<Row>(
                    """
                    SELECT date, result FROM send_attempt
                    WHERE notification_uuid = \(notification.notificationUUID.uuidString) ORDER BY rowid
                    """
                ).fetchAll(database).map { StoreNotification.SendAttempt($0) }
                return notification
            }
    }
}

extension StoreNotification {
    /// The notification of a row, without its attempts; nil for a row of another form.
    package init?(_ row: Row) {
        guard let uuid = UUID(uuidString: row["uuid"]), let type = NotificationTypeV2(rawValue: row["type"])
        else { return nil }
        self.init(
            number: row["number"], notificationUUID: uuid, type: type,
            subtype: (row["subtype"] as String?).flatMap(Subtype.init), transactionIdentifier: row["transaction_id"],
            originalTransactionIdentifier: row["original_transaction_id"], date: row["date"],
            signedPayload: row["payload"], nextAttemptDate: row["next_attempt_date"])
    }
}

extension StoreNotification.SendAttempt {
    package init(_ row: Row) {
        self.init(date: row["date"], result: SendAttemptResult(rawValue: row["result"]) ?? .other)
    }
}

extension Books {
    /// Adds a notification about a subscription, with its latest transaction.
    func notify(_ type: NotificationTypeV2, _ subtype: Subtype?, of subscription: CustomerSubscription) throws {
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else { return }
        try notify(type, subtype, of: latest, in: subscription)
    }

    /// Adds a notification about a transaction.
    ///
    /// - Parameter subscription: The transaction's subscription; nil for any other product.
    @discardableResult
    func notify(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        of transaction: Transaction,
        in subscription: CustomerSubscription? = nil,
        consumptionRequestReason: ConsumptionRequestReason? = nil
    ) throws -> StoreNotification {
        let data = issuer.notificationData(
            signedTransaction: try signed(transaction),
            signedRenewalInfo: try subscription.map {
                try issuer.signedRenewalInfo($0, terms(of: transaction.account))
            },
            status: subscription?.status, consumptionRequestReason: consumptionRequestReason)
        return try notify(type, subtype, .data, data, transaction: transaction)
    }

    /// Adds a notification (App Store Server Notifications V2, `responseBodyV2DecodedPayload`), at the time of the transaction's
    /// account or else of the store.
    @discardableResult
    func notify(
        _ type: NotificationTypeV2,
        _ subtype: Subtype?,
        _ subject: NotificationSubject,
        _ part: StatementFields,
        transaction: Transaction? = nil
    ) throws -> StoreNotification {
        let notificationUUID = UUID(randomness: randomness)
        let (fault, moment) = (try nextFault(), try transaction.map { try now(of: $0.account) } ?? now)
        let notification = StoreNotification(
            notificationUUID: notificationUUID, type: type, subtype: subtype,
            transactionIdentifier: transaction?.transactionIdentifier,
            originalTransactionIdentifier: transaction?.originalTransactionIdentifier, date: moment,
            signedPayload: try issuer.sign([
                "notificationType": type.rawValue, "subtype": subtype?.rawValue, "notificationUUID": notificationUUID,
                subject.rawValue: part, "version": "2.0", "signedDate": moment,
            ]),
            nextAttemptDate: settings.notificationsURL == nil ? nil : DeliverySchedule.firstAttempt(at: moment, fault))
        try notifications.add(notification, fault: fault)
        return notification
    }

    private func nextFault() throws -> NotificationFault? {
        let faults = try state.faults()
        guard let first = faults.first else { return nil }
        try state.setFaults(Array(faults.dropFirst()))
        return first
    }
}
