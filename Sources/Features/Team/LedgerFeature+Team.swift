import Ledger

extension LedgerFeature {
    /// The members of the team, their sessions at the console, their invitations, and the changes of the team.
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
        key: ["name"])

    /// A session. The ledger stores only the digest of its cookie.
    fileprivate static let teamSession = Table(
        name: "team_session", family: .globalKey,
        columns: [
            .blob("cookie_digest", count: 32), .text("name"), .integer("began_at"),
            .integer("ends_at", check: "ends_at > began_at"),
        ],
        key: ["cookie_digest"],
        restoration: .sessionDeletion
    )
    .indexed("team_session_of_member", by: ["name"])
    .indexed("team_session_by_end", by: ["ends_at"])

    /// An invitation: a link that sets a member's password once.
    fileprivate static let teamInvitation = Table(
        name: "team_invitation", family: .globalKey,
        columns: [
            .blob("digest", count: 32), .text("name"), .integer("created_at"),
            .integer("ends_at", check: "ends_at > created_at"),
        ],
        key: ["digest"],
        restoration: .deletion
    )
    .indexed("team_invitation_of_member", by: ["name"])

    fileprivate static let teamChange = Table(
        name: "team_change", family: .everywhere,
        columns: [
            .integer("number", check: "number > 0"), .integer("happened_at"), .text("event"), .text("actor"),
            .text("member"), .text("role").optional,
        ],
        key: ["number"])
}
