import Ledger
import Proofs

/// The SQL of members, sessions and invitations, inside the caller's transaction.
struct TeamRecords {
    let database: any LedgerDatabase

    var changes: TeamChangeRecords { TeamChangeRecords(database: database) }

    func members() throws -> [TeamMember] {
        try database.rows("SELECT * FROM team_member ORDER BY created_at, name", []).map(Self.member)
    }

    func member(_ name: String) throws -> TeamMember? {
        try database.row("SELECT * FROM team_member WHERE name = $1", [name]).map(Self.member)
    }

    func insert(_ member: TeamMember) throws {
        try database.insert(
            into: "team_member", ["name", "role", "created_at"],
            [[member.name, member.role.rawValue, member.createdAt]])
    }

    func setRole(_ role: TeamRole, of name: String) throws {
        try database.execute("UPDATE team_member SET role = $1 WHERE name = $2", [role.rawValue, name])
    }

    func setPasswordHash(_ hash: String, of name: String) throws {
        try database.execute("UPDATE team_member SET password_hash = $1 WHERE name = $2", [hash, name])
    }

    func setCodeSecret(_ secret: [UInt8]?, lastStep: Int64?, of name: String) throws {
        try database.execute(
            "UPDATE team_member SET code_secret = $1, last_code_step = $2 WHERE name = $3", [secret, lastStep, name])
    }

    func setLastCodeStep(_ step: Int64, of name: String) throws {
        try database.execute("UPDATE team_member SET last_code_step = $1 WHERE name = $2", [step, name])
    }

    /// Removes a member, and with the member the password, the sessions and the invitations.
    func remove(_ name: String, at moment: Timestamp) throws {
        try database.execute(
            """
            UPDATE team_member SET removed_at = $1, password_hash = NULL, code_secret = NULL, last_code_step = NULL
            WHERE name = $2
            """,
            [moment, name])
        try deleteSessions(of: name)
        try deleteInvitations(of: name)
    }

    func insert(session digest: [UInt8], of name: String, from beginning: Timestamp, until end: Timestamp) throws {
        try database.execute("DELETE FROM team_session WHERE ends_at <= $1", [beginning])
        try database.insert(
            into: "team_session", ["cookie_digest", "name", "began_at", "ends_at"], [[digest, name, beginning, end]])
    }

    /// The member of a session that has not ended.
    func member(session digest: [UInt8], at moment: Timestamp) throws -> TeamMember? {
        try database.row(
            """
            SELECT team_member.* FROM team_session JOIN team_member USING (name)
            WHERE cookie_digest = $1 AND ends_at > $2 AND removed_at IS NULL
            """,
            [digest, moment]
        ).map(Self.member)
    }

    func deleteSession(_ digest: [UInt8]) throws {
        try database.delete(from: "team_session", where: ["cookie_digest"], [[digest]])
    }

    func deleteSessions(of name: String) throws {
        try database.execute("DELETE FROM team_session WHERE name = $1", [name])
    }

    func insert(invitation digest: [UInt8], of name: String, from beginning: Timestamp, until end: Timestamp) throws {
        try database.insert(
            into: "team_invitation", ["digest", "name", "created_at", "ends_at"], [[digest, name, beginning, end]])
    }

    /// The member of an invitation that has not ended.
    func member(invitation digest: [UInt8], at moment: Timestamp) throws -> TeamMember? {
        try database.row(
            """
            SELECT team_member.* FROM team_invitation JOIN team_member USING (name)
            WHERE digest = $1 AND ends_at > $2 AND removed_at IS NULL
            """,
            [digest, moment]
        ).map(Self.member)
    }

    func deleteInvitations(of name: String) throws {
        try database.execute("DELETE FROM team_invitation WHERE name = $1", [name])
    }

    private static func member(_ row: SQLRow) throws -> TeamMember {
        guard let role = TeamRole(rawValue: try row["role"]) else { throw SQLRow.Mismatch(column: "role") }
        return TeamMember(
            name: try row["name"], role: role, passwordHash: try row["password_hash"],
            codeSecret: try row["code_secret"], lastCodeStep: try row["last_code_step"],
            createdAt: try row["created_at"], removedAt: try row["removed_at"])
    }
}

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
