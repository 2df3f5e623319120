import Ledger
import Proofs

/// An entry of the audit log of any user.
package struct ActivityEntry: Hashable, Sendable, Identifiable {
    /// The number of the user, and the number of the entry in the user's audit log.
    package struct ID: Hashable, Sendable, CustomStringConvertible {
        let user: Int64
        let number: Int64

        package var description: String { "\(user)-\(number)" }
    }

    package let id: ID
    /// Nil for an erased user.
    package let user: User?
    package let entry: AuditEntry

    /// The position in a list of entries with the newest first.
    package var position: RecordPosition {
        RecordPosition(entry.happenedAt.millisecondsSince1970, id.user, id.number)
    }
}

extension ActivityEntry {
    /// The columns of `audit` with an entry.
    static let columns = "user_id, number, \(AuditEntry.columns)"

    /// The entry in the next columns, which are `columns`, without the user.
    init(_ row: inout ResultRow) throws {
        self.init(id: ID(user: try row.next(), number: try row.next()), user: nil, entry: try AuditEntry(&row))
    }
}

/// The numbers of audit entries of each event since a moment.
package struct ActivityCount: Hashable, Sendable {
    fileprivate var numbers: [AuditEntry.Event: Int] = [:]
    /// False if there were more entries than were read, so that the numbers are too low.
    package fileprivate(set) var isComplete = true

    package subscript(event: AuditEntry.Event) -> Int { numbers[event] ?? 0 }
}

/// The queries for the activity of all users. They read the index `audit_by_time`.
extension LedgerTransaction {
    /// The latest audit entries of all users, newest first: those of the origins.
    ///
    /// - Parameter andOthers: True for those without a purchase, too, such as gifts of the team.
    package func latestActivity(
        from origins: Set<Origin>, andOthers: Bool = true, limit: Int
    ) throws -> [ActivityEntry] {
        let found = try ((andOthers ? [nil] : []) + origins.map(Optional.some)).flatMap { origin in
            try database.rows(
                """
                SELECT \(ActivityEntry.columns) FROM audit WHERE origin \(origin == nil ? "IS NULL" : "= $1")
                ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $\(origin == nil ? 1 : 2)
                """,
                (origin.map { [$0] } ?? []) as [any SQLConvertible] + [limit], ActivityEntry.init)
        }
        return Array(try activity(found).sorted { $1.position < $0.position }.prefix(limit))
    }

    /// The entries with their users.
    func activity(_ entries: [ActivityEntry]) throws -> [ActivityEntry] {
        guard !entries.isEmpty else { return [] }
        let names = try presentNames(of: Set(entries.map(\.id.user)))
        return entries.map { ActivityEntry(id: $0.id, user: names[$0.id.user], entry: $0.entry) }
    }

    /// The numbers of audit entries of the origins since a moment.
    ///
    /// - Parameter limit: The largest number of entries to read of each origin.
    package func activityCount(
        from origins: Set<Origin>,
        since moment: Timestamp,
        limit: Int = 50_000
    ) throws -> ActivityCount {
        var count = ActivityCount()
        for origin in origins {
            var read = 0
            try database.forEachRow(
                """
                SELECT event, count(*) FROM (
                    SELECT event FROM audit WHERE origin = $1 AND happened_at >= $2 ORDER BY happened_at DESC LIMIT $3
                ) AS recent GROUP BY event
                """,
                [origin, moment, limit]
            ) { row in
                let (event, number): (AuditEntry.Event, Int) = (try row.next(), try row.next())
                count.numbers[event, default: 0] += number
                read += number
            }
            count.isComplete = count.isComplete && read < limit
        }
        return count
    }
}
