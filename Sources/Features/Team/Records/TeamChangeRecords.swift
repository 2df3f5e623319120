import Ledger
import Proofs

/// The SQL of the changes of the team, inside the caller's transaction.
struct TeamChangeRecords {
    let database: any LedgerDatabase

    func append(
        _ event: TeamChange.Event, of member: String, role: TeamRole? = nil, by actor: TeamActor, at moment: Timestamp
    ) throws {
        let last: Int64 =
            try database.value("SELECT number FROM team_change ORDER BY number DESC LIMIT 1", []) ?? 0
        try database.insert(
            into: "team_change", ["number", "happened_at", "event", "actor", "member", "role"],
            [[last + 1, moment, event, actor, member, role?.rawValue]])
    }

    /// The changes before a number, newest first.
    func changes(before number: Int64, limit: Int) throws -> [TeamChange] {
        try database.rows(
            "SELECT * FROM team_change WHERE number < $1 ORDER BY number DESC LIMIT $2", [number, limit]
        ).map { row in
            let role: String? = try row["role"]
            return TeamChange(
                number: try row["number"], happenedAt: try row["happened_at"], event: try row["event"],
                actor: try row["actor"], member: try row["member"], role: role.flatMap(TeamRole.init(rawValue:)))
        }
    }
}
