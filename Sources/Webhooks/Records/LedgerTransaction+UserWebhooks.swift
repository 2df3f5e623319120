import Commerce
import Ledger

extension LedgerTransaction {
    /// Marks the latest delivered and failed messages about a user as pending again.
    ///
    /// - Returns: The number of messages, at most `limit`.
    public func replayWebhooks(about user: User, limit: Int) throws -> Int {
        guard try database.has("webhook_delivery"), let user = try users.known(user) else { return 0 }
        return try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE user_id = $2 AND (audit_number, endpoint_id) IN (
                SELECT audit_number, endpoint_id FROM webhook_delivery
                WHERE user_id = $2 AND next_attempt_at IS NULL AND endpoint_id IN (
                    SELECT endpoint_id FROM webhook_endpoint WHERE removed_at IS NULL)
                ORDER BY audit_number DESC, endpoint_id LIMIT $3)
            """,
            // Replayed messages precede all retries.
            [Timestamp(millisecondsSince1970: 0), user, limit])
    }
}
