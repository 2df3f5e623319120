import Ledger

extension WebhookRecords {
    /// The last revocation of a delivery's transaction before its entry, in the log of the same user; nil for none.
    func revocation(before delivery: WebhookDelivery) throws -> AuditEntry? {
        let entry = delivery.entry
        guard entry.event == .granted else { return nil }
        return try database.row(
            """
            SELECT * FROM audit WHERE user_id = $1 AND number < $2 AND event = $3 AND reference = $4 AND origin = $5
                \(entry.app == nil ? "" : "AND (app IS NULL OR app = $6)")
            ORDER BY number DESC LIMIT 1
            """,
            [
                delivery.key.user, delivery.key.number, AuditEntry.Event.revoked, entry.reference, entry.origin,
            ] + (entry.app.map { [$0] } ?? [])
        ).map { try AuditRecord($0).entry }
    }
}
