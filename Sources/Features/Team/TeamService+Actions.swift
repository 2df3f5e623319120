import Ledger
import Proofs

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
