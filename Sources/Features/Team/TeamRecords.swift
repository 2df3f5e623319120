import Ledger
import Proofs

/// A table of secrets of members. Each row has the digest of a secret, which is valid until its end.
struct TeamSecretTable {
    static let sessions = TeamSecretTable(
        name: "team_session", digest: "cookie_digest", beginning: "began_at", lifetime: TeamService.sessionTime)
    static let invitations = TeamSecretTable(
        name: "team_invitation", digest: "digest", beginning: "created_at", lifetime: TeamService.invitationTime)

    let name: String
    let digest: String
    let beginning: String
    /// The lifetime of a secret, in milliseconds.
    let lifetime: Int64
}

/// The SQL of members, their secrets and the changes of the team.
extension LedgerTransaction {
    /// All members, removed ones included, oldest first.
    func teamMembers() throws -> [TeamMember] {
        try teamMembers("ORDER BY team_member.created_at, name")
    }

    func teamMember(_ name: String) throws -> TeamMember? {
        try teamMembers("WHERE name = $1", [name]).first
    }

    /// - Parameter clauses: The SQL after the table.
    private func teamMembers(_ clauses: String, _ arguments: [any SQLConvertible] = []) throws -> [TeamMember] {
        try database.rows(
            """
            SELECT name, role, password_hash, code_secret, last_code_step, team_member.created_at, removed_at
            FROM team_member \(clauses)
            """,
            arguments
        ) { row in
            TeamMember(
                name: try row.next(), role: try row.next(), passwordHash: try row.next(), codeSecret: try row.next(),
                lastCodeStep: try row.next(), createdAt: try row.next(), removedAt: try row.next())
        }
    }

    /// Stores the present state of a member.
    func save(_ member: TeamMember) throws {
        try database.execute(
            """
            UPDATE team_member SET role = $1, password_hash = $2, code_secret = $3, last_code_step = $4, removed_at = $5
            WHERE name = $6
            """,
            [member.role, member.passwordHash, member.codeSecret, member.lastCodeStep, member.removedAt, member.name])
    }

    /// The member of a secret that has not ended.
    func teamMember(of secret: Secret, in table: TeamSecretTable, at moment: Timestamp) throws -> TeamMember? {
        try teamMembers(
            "JOIN \(table.name) USING (name) WHERE \(table.digest) = $1 AND ends_at > $2 AND removed_at IS NULL",
            [secret.digest, moment]
        ).first
    }

    /// Makes a secret for a member.
    func addSecret(to table: TeamSecretTable, of name: String, at moment: Timestamp) throws -> Secret {
        let secret = Secret(randomness: randomness)
        let end = Timestamp(millisecondsSince1970: moment.millisecondsSince1970 + table.lifetime)
        try database.insert(
            into: table.name, [table.digest, "name", table.beginning, "ends_at"], [[secret.digest, name, moment, end]])
        return secret
    }

    func endTeamSession(_ secret: Secret) throws {
        try database.delete(from: "team_session", where: ["cookie_digest"], [[secret.digest]])
    }

    /// Ends the sessions and the invitations of a member.
    func deleteSecrets(of name: String) throws {
        try database.execute("DELETE FROM team_session WHERE name = $1", [name])
        try database.execute("DELETE FROM team_invitation WHERE name = $1", [name])
    }

    func record(
        _ event: TeamChange.Event, of member: String, role: TeamRole? = nil, by actor: TeamActor, at moment: Timestamp
    ) throws {
        let last: Int64 =
            try database.value("SELECT number FROM team_change ORDER BY number DESC LIMIT 1", []) ?? 0
        try database.insert(
            into: "team_change", ["number", "happened_at", "event", "actor", "member", "role"],
            [[last + 1, moment, event, actor, member, role]])
    }

    /// The changes of the team before a number, newest first.
    func teamChanges(before number: Int64, limit: Int) throws -> [TeamChange] {
        try database.rows(
            """
            SELECT number, happened_at, event, actor, member, role FROM team_change
            WHERE number < $1 ORDER BY number DESC LIMIT $2
            """,
            [number, limit]
        ) { row in
            TeamChange(
                number: try row.next(), happenedAt: try row.next(), event: try row.next(), actor: try row.next(),
                member: try row.next(), role: try row.next())
        }
    }
}

extension LedgerFeature {
    package static let team = LedgerFeature(tables: [.teamMember, .teamSession, .teamInvitation, .teamChange])
}

extension Table {
    /// A member. A removed member stays, because the audit log names people.
    fileprivate static let teamMember = Table(
        name: "team_member", family: .everywhere,
        columns: [
            .text("name"), .text("role"), .text("password_hash").optional, .blob("code_secret", count: 20).optional,
            .integer("last_code_step").optional, .integer("created_at"), .integer("removed_at").optional,
        ],
        key: ["name"]
    )
    .takingBack("last_code_step", unit: OneTimeCode.stepLength * 1000)

    /// A session. The ledger stores only the digest of its cookie.
    fileprivate static let teamSession = Table(
        name: "team_session", family: .globalKey,
        columns: [
            .blob("cookie_digest", count: 32), .text("name"), .integer("began_at"),
            .integer("ends_at", check: "ends_at > began_at"),
        ],
        key: ["cookie_digest"],
        restoration: .sessionDeletion, staysAtReset: true
    )
    .indexed("team_session_of_member", by: ["name"])
    .indexed("team_session_by_end", by: ["ends_at"])
    .takingBack("began_at", setting: "ends_at = ends_at - (began_at - $1), began_at = $1", endsEarly: true)

    /// An invitation: a link that sets a member's password once.
    fileprivate static let teamInvitation = Table(
        name: "team_invitation", family: .globalKey,
        columns: [
            .blob("digest", count: 32), .text("name"), .integer("created_at"),
            .integer("ends_at", check: "ends_at > created_at"),
        ],
        key: ["digest"],
        restoration: .deletion, staysAtReset: true
    )
    .indexed("team_invitation_of_member", by: ["name"])
    .takingBack("created_at", setting: "ends_at = ends_at - (created_at - $1), created_at = $1", endsEarly: true)

    fileprivate static let teamChange = Table(
        name: "team_change", family: .everywhere,
        columns: [
            .integer("number", check: "number > 0"), .integer("happened_at"), .text("event"), .text("actor"),
            .text("member"), .text("role").optional,
        ],
        key: ["number"])
}
