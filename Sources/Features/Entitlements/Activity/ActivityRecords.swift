import Ledger
import Proofs

/// The SQL on the audit logs of all users, inside the caller's transaction. It reads the index `audit_by_time`.
struct ActivityRecords {
    let database: any LedgerDatabase

    /// The latest entries of an origin, newest first.
    ///
    /// - Parameter origin: Nil for the entries without a purchase.
    func latest(from origin: Origin?, limit: Int) throws -> [(id: ActivityEntry.ID, entry: AuditEntry)] {
        let arguments: [any SQLConvertible] = (origin.map { [$0] } ?? []) + [limit]
        return try database.rows(
            """
            SELECT * FROM audit WHERE origin \(origin == nil ? "IS NULL" : "= $1")
            ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $\(arguments.count)
            """,
            arguments
        ).map { row in
            let record = try AuditRecord(row)
            return (ActivityEntry.ID(user: try row["user_id"], number: record.number), record.entry)
        }
    }

    /// The numbers of entries of an origin since a moment, by event.
    ///
    /// - Parameter limit: The largest number of entries to read.
    func counts(from origin: Origin, since moment: Timestamp, limit: Int) throws -> [AuditEntry.Event: Int] {
        var counts: [AuditEntry.Event: Int] = [:]
        let rows = try database.rows(
            """
            SELECT event, count(*) AS number FROM (
                SELECT event FROM audit WHERE origin = $1 AND happened_at >= $2 ORDER BY happened_at DESC LIMIT $3
            ) AS recent GROUP BY event
            """,
            [origin, moment, limit])
        for row in rows { counts[try row["event"]] = Int(try row["number"] as Int64) }
        return counts
    }
}
