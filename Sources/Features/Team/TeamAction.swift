import Ledger
import Proofs

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
