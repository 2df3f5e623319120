import Foundation
import Ledger
import Proofs

/// The reconciliation with the App Store, and its consumption requests.
extension LedgerTransaction {
    /// Users with redeemed transactions, once for each of their origins, in a stable order.
    ///
    /// - Parameters:
    ///   - number: The number of the last user of the previous page; 0 for the first page.
    ///   - origins: The origins of the purchases.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    ///   - limit: The maximum number of users.
    package func customers(
        after number: Int64,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [Customer] {
        guard let app = try self.number(ofApp: app) else { return [] }
        return try ReadingRecords(database: database)
            .customers(after: number, of: origins, in: app.number, limit: limit)
    }

    /// The open consumption requests of the App Store (`CONSUMPTION_REQUEST`), oldest first.
    ///
    /// - Parameters:
    ///   - moment: The date of the oldest request.
    ///   - origins: The origins of the requests.
    ///   - app: The bundle identifier of an app, for only its purchases; nil for all apps.
    package func openConsumptionRequests(
        since moment: Timestamp,
        of origins: Set<Origin>,
        in app: String? = nil,
        limit: Int
    ) throws -> [OpenConsumptionRequest] {
        guard let app = try number(ofApp: app) else { return [] }
        let rows = try database.rows(
            """
            SELECT notification_uuid, transaction_id, origin, app, content
            FROM notification \(database.indexed(by: "notification_that_asks"))
            WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL AND transaction_id IS NOT NULL
                AND signed_at >= $1 AND origin IN \(origins.sqlList)
                \(app.number.map { "AND app = \($0)" } ?? "")
            ORDER BY signed_at, notification_uuid LIMIT $2
            """,
            [moment, limit])
        let claimed = try claimedTransactions(among: rows)
        return try rows.map { row in
            OpenConsumptionRequest(
                origin: try row["origin"], notificationUUID: try row["notification_uuid"],
                transactionIdentifier: try row["transaction_id"],
                isRedeemed: claimed.contains(try row.values(Table.transactionKey)),
                isSubscription: Self.hasStatus(try row["content"]))
        }
    }

    /// True if the content of a notification has the status of a subscription.
    private static func hasStatus(_ content: String?) -> Bool {
        struct Question: Decodable {
            struct Purchase: Decodable {
                let status: Int?
            }
            let data: Purchase
        }
        let question = content.flatMap { try? JSONDecoder().decode(Question.self, from: Data($0.utf8)) }
        return question?.data.status != nil
    }

    /// The keys of the redeemed transactions among rows.
    private func claimedTransactions(among rows: [SQLRow]) throws -> Set<[SQLValue]> {
        let identifiers = Set(try rows.map { ByteKey(try $0["transaction_id"]) }).sorted().map(\.text)
        guard !identifiers.isEmpty else { return [] }
        return Set(
            try database.rows(
                "SELECT transaction_id, origin, app FROM claim WHERE transaction_id \(database.isIn("$1"))",
                [database.list(identifiers)]
            ).map { try $0.values(Table.transactionKey) })
    }

    /// Settles a consumption request. One that is settled already stays unchanged.
    package func settle(_ request: OpenConsumptionRequest, at moment: Timestamp) throws {
        _ = try database.execute(
            """
            UPDATE notification SET settled_at = $1
            WHERE origin = $2 AND notification_uuid = $3 AND settled_at IS NULL
            """,
            [moment, request.origin, request.notificationUUID])
    }

    /// The checkpoint of a reconciliation; nil if there was none.
    package func checkpoint(ofReconciliation subject: String) throws -> ReconciliationCheckpoint? {
        try database.row("SELECT reconciled_until, findings FROM reconciliation WHERE subject = $1", [subject])
            .map(ReconciliationCheckpoint.init)
    }

    /// Stores the checkpoint of a reconciliation, unless a later one is stored.
    package func setReconciled(_ subject: String, until moment: Timestamp, findings: [String: Int]) throws {
        let checkpoint = ReconciliationCheckpoint(until: moment, findings: findings)
        _ = try database.execute(
            """
            INSERT INTO reconciliation (subject, reconciled_until, findings) VALUES ($1, $2, $3)
            ON CONFLICT (subject) DO UPDATE
            SET reconciled_until = excluded.reconciled_until, findings = excluded.findings
            WHERE excluded.reconciled_until > reconciliation.reconciled_until
            """,
            [subject, checkpoint.until, try checkpoint.findingsText])
    }
}
