import Ledger
import Proofs

/// The statements on attempts and replays.
extension WebhookRecords {
    /// The attempts of a delivery, newest first.
    func attempts(of delivery: WebhookDelivery, limit: Int) throws -> [WebhookDelivery.Attempt] {
        try database.rows(
            """
            SELECT number AS last_attempt, attempted_at, status, error, duration_ms, response FROM webhook_attempt
            WHERE user_id = $1 AND audit_number = $2 AND endpoint_id = $3 ORDER BY number DESC LIMIT $4
            """,
            [delivery.key.user, delivery.key.number, delivery.key.endpoint, limit]
        ).compactMap(WebhookDelivery.Attempt.init)
    }

    func replay(_ message: String, to endpoint: String) throws -> Bool {
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE endpoint_id = $2 AND message_id = $3
            """,
            [Self.atOnce, endpoint, message]) == 1
    }

    func replayFailed(to endpoint: String, limit: Int) throws -> Int {
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1
            WHERE endpoint_id = $2 AND message_id IN (
                SELECT message_id FROM webhook_delivery
                WHERE endpoint_id = $2 AND next_attempt_at IS NULL AND is_delivered = 0
                ORDER BY happened_at LIMIT $3)
            """,
            [Self.atOnce, endpoint, limit])
    }

    /// Marks ended deliveries of events in a period as pending, oldest first.
    ///
    /// - Parameters:
    ///   - position: The position after which the deliveries begin.
    ///   - end: The first moment after the period.
    /// - Returns: The positions of the deliveries.
    func replay(
        to endpoint: String,
        after position: WebhookDeliveryPosition,
        until end: Timestamp,
        limit: Int
    ) throws -> [WebhookDeliveryPosition] {
        // Two branches, each over the index of its state, so that pending deliveries are not read.
        func ended(_ index: String, _ condition: String) -> String {
            """
            SELECT happened_at, message_id FROM (
                SELECT happened_at, message_id FROM webhook_delivery \(database.indexed(by: index))
                WHERE endpoint_id = $1 AND (happened_at, message_id) > ($2, $3) AND happened_at < $4 AND \(condition)
                ORDER BY happened_at, message_id LIMIT $5) AS ended
            """
        }
        let found = try database.rows(
            """
            \(ended("webhook_delivery_failed", "next_attempt_at IS NULL AND is_delivered = 0"))
            UNION ALL \(ended("webhook_delivery_delivered", "is_delivered = 1"))
            ORDER BY happened_at, message_id LIMIT $5
            """,
            [endpoint, position.happenedAt, position.messageIdentifier, end, limit]
        ).map {
            WebhookDeliveryPosition(happenedAt: try $0["happened_at"], messageIdentifier: try $0["message_id"])
        }
        guard !found.isEmpty else { return [] }
        try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE endpoint_id = $2 AND message_id \(database.isIn("$3"))
            """,
            [Self.atOnce, endpoint, database.list(found.map(\.messageIdentifier))])
        return found
    }
}
