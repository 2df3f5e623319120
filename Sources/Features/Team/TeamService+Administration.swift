import Ledger
import Proofs

/// The changes of the team. Each is recorded (`TeamChange`).
extension TeamService {
    /// Adds a member without a password.
    ///
    /// - Returns: The secret of an invitation, which sets the first password.
    /// - Throws: `TeamError`, `nameInvalid` or `nameTaken`.
    package func add(_ name: String, role: TeamRole, by actor: TeamActor = .commandLine) async throws -> String {
        guard TeamMember.isName(name) else { throw TeamError.nameInvalid(name) }
        let secret = TeamSecret(randomness)
        let now = clock.now()
        try await ledger.write { transaction in
            let records = TeamRecords(database: transaction.database)
            guard try records.member(name) == nil else { throw TeamError.nameTaken(name) }
            try records.insert(TeamMember(name: name, role: role, createdAt: now))
            try invite(name, secret, now, records)
            try records.changes.append(.added, of: name, role: role, by: actor, at: now)
        }
        return secret.text
    }

    /// Invites a member again. The invitation sets another password; until it is used, the old one is valid.
    ///
    /// - Returns: The secret of the invitation. Earlier invitations of the member are invalid.
    /// - Throws: `TeamError`, `memberNotFound`.
    package func invite(_ name: String, by actor: TeamActor = .commandLine) async throws -> String {
        let secret = TeamSecret(randomness)
        let now = clock.now()
        try await change(name) { records, _ in
            try records.deleteInvitations(of: name)
            try invite(name, secret, now, records)
            try records.changes.append(.invited, of: name, by: actor, at: now)
        }
        return secret.text
    }

    /// - Throws: `TeamError`, `memberNotFound` or `lastAdministrator`.
    package func setRole(_ role: TeamRole, of name: String, by actor: TeamActor = .commandLine) async throws {
        let now = clock.now()
        try await change(name) { records, member in
            guard role != member.role else { return }
            try checkLoss(of: member, records)
            try records.setRole(role, of: name)
            try records.changes.append(.roleChanged, of: name, role: role, by: actor, at: now)
        }
    }

    /// Removes a member, and ends the member's sessions.
    ///
    /// - Throws: `TeamError`, `memberNotFound`, `lastAdministrator` or `ownRemoval`.
    package func remove(_ name: String, by actor: TeamActor = .commandLine) async throws {
        if case .member(let own) = actor, own.hasSameBytes(as: name) { throw TeamError.ownRemoval }
        let now = clock.now()
        try await change(name) { records, member in
            try checkLoss(of: member, records)
            try records.remove(name, at: now)
            try records.changes.append(.removed, of: name, by: actor, at: now)
        }
    }

    /// The changes of the team, newest first.
    ///
    /// - Parameter number: The number of the change after the first one to return; nil for the newest.
    package func changes(before number: Int64? = nil, limit: Int) async throws -> [TeamChange] {
        try await ledger.read { transaction in
            guard try transaction.database.has("team_change") else { return [] }
            return try TeamChangeRecords(database: transaction.database)
                .changes(before: number ?? .max, limit: limit)
        }
    }

    private func invite(_ name: String, _ secret: TeamSecret, _ now: Timestamp, _ records: TeamRecords) throws {
        try records.insert(
            invitation: secret.digest, of: name, from: now,
            until: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Self.invitationTime))
    }

    /// Checks that the team keeps an administrator who can log in, if it has one and loses this member as one.
    ///
    /// - Throws: `TeamError`, `lastAdministrator`.
    private func checkLoss(of member: TeamMember, _ records: TeamRecords) throws {
        guard member.role == .admin else { return }
        let others = try records.members().filter {
            $0.role == .admin && $0.removedAt == nil && !$0.name.hasSameBytes(as: member.name)
        }
        let isReplaced = member.passwordHash == nil ? !others.isEmpty : others.contains { $0.passwordHash != nil }
        guard isReplaced else { throw TeamError.lastAdministrator(member.name) }
    }
}

/// An entry of a user's audit log whose actor is a member of the team.
package struct TeamAction: Hashable, Sendable {
    /// The place of an action in the list of all actions, newest first.
    package struct Position: Hashable, Sendable {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        package var text: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }

    /// A page of the list.
    package struct Page: Sendable {
        package let actions: [TeamAction]
        /// The place after which the next page begins; nil for the last page.
        package let end: Position?
    }

    package let position: Position
    /// The user; nil for an erased user.
    package let user: User?
    package let entry: AuditEntry
}

extension TeamAction.Position {
    /// - Returns: Nil for a text that `text` never returns.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let time = numbers[0], let user = numbers[1], let number = numbers[2] else {
            return nil
        }
        self.init(happenedAt: Timestamp(millisecondsSince1970: time), user: user, number: number)
    }
}

/// The actions of the members on users.
extension TeamService {
    /// The largest number of entries that one page searches for those of a member or an event.
    package static let searchedEntries = 5000

    /// The actions of the members on all users, newest first. A page with a filter may have fewer actions than the limit and
    /// still have a next page.
    ///
    /// - Parameters:
    ///   - member: The name of a member, also a removed one; nil for all.
    ///   - event: Nil for all events.
    ///   - position: The place after which the page begins; nil for the first page.
    ///   - searched: The largest number of entries that the page searches.
    package func actions(
        of member: String? = nil,
        event: AuditEntry.Event? = nil,
        after position: TeamAction.Position? = nil,
        limit: Int,
        searching searched: Int = searchedEntries
    ) async throws -> TeamAction.Page {
        let start =
            position
            ?? TeamAction.Position(happenedAt: Timestamp(millisecondsSince1970: .max), user: .max, number: .max)
        return try await ledger.read { transaction in
            let records = TeamActionRecords(database: transaction.database)
            let isFiltered = member != nil || event != nil
            let end = isFiltered ? try records.place(searched, after: start) : nil
            let found = try records.actions(
                by: member.map { .member($0) }, event, after: start, upTo: end, limit: limit + 1)
            let users = try transaction.users.names(of: Set(found.map(\.user)))
            let actions = found.prefix(limit).map { user, record in
                let name = users[user].flatMap { $0.issuer == User.erasedIssuer ? nil : $0 }
                let position = TeamAction.Position(
                    happenedAt: record.entry.happenedAt, user: user, number: record.number)
                return TeamAction(position: position, user: name, entry: record.entry)
            }
            return TeamAction.Page(actions: actions, end: found.count > limit ? actions.last?.position : end)
        }
    }
}

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
