import Commerce
import GRDB

/// What the App Store asks, and what it is asked.
extension SQLiteLedger {
    public func customers(
        after number: Int64,
        of origins: Set<Origin>,
        limit: Int
    ) throws(StorageFault) -> [Customer] {
        try read { try users($0).customers(after: number, of: origins, limit: limit) }
    }

    public func openConsumptionRequests(
        since moment: Timestamp,
        of origins: Set<Origin>,
        limit: Int
    ) throws(StorageFault) -> [OpenConsumptionRequest] {
        try read { database in
            try SQLRequest<Row>(
                """
                SELECT origin, notification_uuid, transaction_id, EXISTS (
                    SELECT * FROM redeemed_transaction AS redeemed
                    WHERE redeemed.origin = notification.origin AND redeemed.transaction_id = notification.transaction_id
                ) AS is_redeemed
                FROM notification INDEXED BY notification_that_asks
                WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL
                    AND signed_at >= \(moment.millisecondsSince1970) AND origin IN \(origins.map(\.rawValue))
                ORDER BY signed_at, notification_uuid LIMIT \(limit)
                """
            ).fetchAll(database).compactMap { row in
                Origin(rawValue: row["origin"]).map {
                    OpenConsumptionRequest(
                        origin: $0, notificationUUID: row["notification_uuid"],
                        transactionIdentifier: row["transaction_id"], isRedeemed: row["is_redeemed"])
                }
            }
        }
    }

    public func settle(_ request: OpenConsumptionRequest, at moment: Timestamp) throws(StorageFault) {
        try write { database in
            try database.execute(
                sql: """
                    UPDATE notification SET settled_at = ?
                    WHERE origin = ? AND notification_uuid = ? AND settled_at IS NULL
                    """,
                arguments: [moment.millisecondsSince1970, request.origin.rawValue, request.notificationUUID])
        }
    }

    public func reconciled(_ subject: String) throws(StorageFault) -> Timestamp? {
        try read { database in
            try Int64.fetchOne(
                database, sql: "SELECT reconciled_until FROM reconciliation WHERE subject = ?", arguments: [subject]
            ).map(Timestamp.init(millisecondsSince1970:))
        }
    }

    public func setReconciled(_ subject: String, until moment: Timestamp) throws(StorageFault) {
        try write { database in
            try database.execute(
                sql: """
                    INSERT INTO reconciliation (subject, reconciled_until) VALUES (?, ?)
                    ON CONFLICT DO UPDATE SET reconciled_until = max(reconciled_until, excluded.reconciled_until)
                    """,
                arguments: [subject, moment.millisecondsSince1970])
        }
    }
}
