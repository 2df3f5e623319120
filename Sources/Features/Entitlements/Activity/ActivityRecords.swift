import Ledger
import Proofs

/// The SQL on the audit logs of all users, inside the caller's transaction. It reads the index `audit_by_time`.
struct ActivityRecords {
    let database: any LedgerDatabase

    /// The latest entries of an origin, newest first.
    ///
    /// - Parameter origin: Nil for the entries without a purchase.
    func latest(from origin: Origin?, limit: Int) throws -> [(id: ActivityEntry.ID, entry: AuditEntry)] {
        let arguments: [any SQLConvertible] = (origin.map { [$0] } ?? []) + [limit]
        return try database.rows(
            """
            SELECT * FROM audit WHERE origin \(origin == nil ? "IS NULL" : "= $1")
            ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $\(arguments.count)
            """,
            arguments
        ).map { row in
            let record = try AuditRecord(row)
            return (ActivityEntry.ID(user: try row["user_id"], number: record.number), record.entry)
        }
    }

    /// The numbers of entries of an origin since a moment, by event.
    ///
    /// - Parameter limit: The largest number of entries to read.
    func counts(from origin: Origin, since moment: Timestamp, limit: Int) throws -> [AuditEntry.Event: Int] {
        var counts: [AuditEntry.Event: Int] = [:]
        let rows = try database.rows(
            """
            SELECT event, count(*) AS number FROM (
                SELECT event FROM audit WHERE origin = $1 AND happened_at >= $2 ORDER BY happened_at DESC LIMIT $3
            ) AS recent GROUP BY event
            """,
            [origin, moment, limit])
        for row in rows { counts[try row["event"]] = Int(try row["number"] as Int64) }
        return counts
    }
}

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

    /// True if this entry belongs before another one in a list with the newest first.
    static func isNewer(_ one: ActivityEntry, than other: ActivityEntry) -> Bool {
        if one.entry.happenedAt != other.entry.happenedAt { return one.entry.happenedAt > other.entry.happenedAt }
        return (one.id.user, one.id.number) > (other.id.user, other.id.number)
    }
}

/// The numbers of audit entries of each event since a moment.
package struct ActivityCount: Hashable, Sendable {
    private let numbers: [AuditEntry.Event: Int]
    /// False if there were more entries than were read, so that the numbers are too low.
    package let isComplete: Bool

    init(numbers: [AuditEntry.Event: Int], isComplete: Bool) {
        self.numbers = numbers
        self.isComplete = isComplete
    }

    package subscript(event: AuditEntry.Event) -> Int { numbers[event] ?? 0 }
}

/// The queries for the activity of all users.
extension LedgerTransaction {
    /// The latest audit entries of all users, newest first: those of the origins, and those without a purchase.
    package func latestActivity(from origins: Set<Origin>, limit: Int) throws -> [ActivityEntry] {
        let records = ActivityRecords(database: database)
        let found = try ([nil] + origins.map(Optional.some)).flatMap { try records.latest(from: $0, limit: limit) }
        let names = try users.names(of: Set(found.map(\.id.user)))
        let entries = found.map { id, entry in
            ActivityEntry(
                id: id, user: names[id.user].flatMap { $0.issuer == User.erasedIssuer ? nil : $0 }, entry: entry)
        }
        return Array(entries.sorted(by: ActivityEntry.isNewer).prefix(limit))
    }

    /// The numbers of audit entries of the origins since a moment.
    ///
    /// - Parameter limit: The largest number of entries to read of each origin.
    package func activityCount(from origins: Set<Origin>, since moment: Timestamp, limit: Int) throws -> ActivityCount {
        let records = ActivityRecords(database: database)
        var (numbers, isComplete): ([AuditEntry.Event: Int], Bool) = ([:], true)
        for origin in origins {
            let counts = try records.counts(from: origin, since: moment, limit: limit)
            isComplete = isComplete && counts.values.reduce(0, +) < limit
            numbers.merge(counts, uniquingKeysWith: +)
        }
        return ActivityCount(numbers: numbers, isComplete: isComplete)
    }
}
