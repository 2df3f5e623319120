import Ledger
import Proofs

/// The SQL on the audit entries of members, inside the caller's transaction. It reads the index `audit_of_members`.
struct TeamActionRecords {
    /// The condition of the index.
    private static let isOfMember = "substr(actor, 1, 7) = 'member '"
    private static let order = "ORDER BY happened_at DESC, user_id DESC, number DESC"

    let database: any LedgerDatabase

    /// The entries after a place, newest first.
    ///
    /// - Parameters:
    ///   - actor: Nil for all members.
    ///   - event: Nil for all events.
    ///   - end: The last place to read; nil for the end of the list.
    func actions(
        by actor: AuditActor?,
        _ event: AuditEntry.Event?,
        after position: TeamAction.Position,
        upTo end: TeamAction.Position?,
        limit: Int
    ) throws -> [(user: Int64, record: AuditRecord)] {
        var sql = "SELECT * FROM audit WHERE \(Self.isOfMember) AND (happened_at, user_id, number) < ($1, $2, $3)"
        var arguments: [any SQLConvertible] = [position.happenedAt, position.user, position.number]
        if let end {
            sql += " AND (happened_at, user_id, number) >= ($4, $5, $6)"
            arguments += [end.happenedAt, end.user, end.number] as [any SQLConvertible]
        }
        if let actor {
            arguments.append(actor)
            sql += " AND actor = $\(arguments.count)"
        }
        if let event {
            arguments.append(event)
            sql += " AND event = $\(arguments.count)"
        }
        arguments.append(limit)
        return try database.rows("\(sql) \(Self.order) LIMIT $\(arguments.count)", arguments).map {
            (try $0["user_id"], try AuditRecord($0))
        }
    }

    /// The place of the entry that comes a number of entries after a place; nil if there are fewer.
    func place(_ count: Int, after position: TeamAction.Position) throws -> TeamAction.Position? {
        try database.row(
            """
            SELECT happened_at, user_id, number FROM audit
            WHERE \(Self.isOfMember) AND (happened_at, user_id, number) < ($1, $2, $3) \(Self.order) LIMIT 1 OFFSET $4
            """,
            [position.happenedAt, position.user, position.number, count - 1]
        ).map { row in
            TeamAction.Position(
                happenedAt: try row["happened_at"], user: try row["user_id"], number: try row["number"])
        }
    }
}
