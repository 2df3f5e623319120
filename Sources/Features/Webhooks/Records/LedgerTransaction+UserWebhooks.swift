import Ledger
import Proofs

extension LedgerTransaction {
    /// Marks the latest delivered and failed messages about a user to an endpoint as pending again.
    ///
    /// - Returns: The number of messages, at most `limit`.
    package func replayWebhooks(about user: User, to endpoint: String, limit: Int) throws -> Int {
        guard try database.has("webhook_delivery"), let user = try users.known(user) else { return 0 }
        return try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE user_id = $2 AND endpoint_id = $3 AND audit_number IN (
                SELECT audit_number FROM webhook_delivery
                WHERE user_id = $2 AND endpoint_id = $3 AND next_attempt_at IS NULL
                ORDER BY audit_number DESC LIMIT $4)
            """,
            [WebhookRecords.atOnce, user, endpoint, limit])
    }
}
