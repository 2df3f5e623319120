import Ledger
import Proofs

/// An entry of a user's audit log whose actor is a member of the team.
package struct TeamAction: Hashable, Sendable {
    /// The place of an action in the list of all actions, newest first.
    package struct Position: Hashable, Sendable {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        var values: [any SQLConvertible] { [happenedAt, user, number] }

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
            let database = transaction.database
            // The condition of the index `audit_of_members`.
            var sql = """
                FROM audit WHERE substr(actor, 1, 7) = 'member ' AND (happened_at, user_id, number) < ($1, $2, $3)
                """
            let order = "ORDER BY happened_at DESC, user_id DESC, number DESC"
            var arguments = start.values
            var end: TeamAction.Position?
            if member != nil || event != nil {
                end = try database.row(
                    "SELECT happened_at, user_id, number \(sql) \(order) LIMIT 1 OFFSET $4", arguments + [searched - 1]
                ).map { row in
                    TeamAction.Position(
                        happenedAt: try row["happened_at"], user: try row["user_id"], number: try row["number"])
                }
            }
            if let end {
                sql += " AND (happened_at, user_id, number) >= ($4, $5, $6)"
                arguments += end.values
            }
            let filters: [(String, (any SQLConvertible)?)] = [
                ("actor", member.map { AuditActor.member($0) }), ("event", event),
            ]
            for case (let column, let value?) in filters {
                arguments.append(value)
                sql += " AND \(column) = $\(arguments.count)"
            }
            arguments.append(limit + 1)
            let found = try database.rows("SELECT * \(sql) \(order) LIMIT $\(arguments.count)", arguments).map {
                (user: try $0["user_id"] as Int64, record: try AuditRecord($0))
            }
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
