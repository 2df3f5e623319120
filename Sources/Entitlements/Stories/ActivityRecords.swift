import Ledger
import Proofs
import Vocabulary

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
    package static let columns = "user_id, number, \(AuditEntry.columns)"

    /// The entry in the next columns, which are `columns`, without the user.
    package init(_ row: inout ResultRow) throws {
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

    package func activity(_ entries: [ActivityEntry]) throws -> [ActivityEntry] {
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

package struct RefusalGroup: Hashable, Sendable {
    /// The maximum count. A greater number of refusals has this count.
    package static let maximumCount = 10_000

    package let code: String
    /// The number of refusals in the counted period, up to `maximumCount`.
    package let count: Int
    /// The latest refusals of any time, newest first.
    package let latest: [ActivityEntry]
}

/// The refusals of all users by their codes. Each statement reads a bounded part of the index `audit_refused`.
extension LedgerTransaction {
    /// The maximum number of codes. The service has about ten that it records.
    private static let maximumRefusalCodes = 50

    private var refused: String { "audit \(database.indexed(by: "audit_refused")) WHERE event = 'refused'" }

    /// The recorded refusals of all users by their codes, in the order of the codes.
    ///
    /// - Parameters:
    ///   - moment: The beginning of the counted period.
    ///   - latest: The number of the latest refusals of each code.
    package func refusalGroups(since moment: Timestamp, latest: Int) throws -> [RefusalGroup] {
        var codes: [String] = []
        // Each statement skips the other refusals of a code.
        while codes.count < Self.maximumRefusalCodes,
            let next: String = try database.value(
                "SELECT reason FROM \(refused) AND reason > $1 ORDER BY reason LIMIT 1", [codes.last ?? ""])
        {
            codes.append(next)
        }
        return try codes.map { code in
            let count: Int? = try database.value(
                """
                SELECT count(*) FROM (
                    SELECT happened_at FROM \(refused) AND reason = $1 AND happened_at >= $2 LIMIT $3
                ) AS counted
                """,
                [code, moment, RefusalGroup.maximumCount])
            return RefusalGroup(
                code: code, count: count ?? 0, latest: try refusals(of: code, before: nil, limit: latest))
        }
    }

    /// The recorded refusals of a code, newest first.
    ///
    /// - Parameter position: The position of the last refusal of the previous page; nil for the first page.
    package func refusals(of code: String, before position: RecordPosition?, limit: Int) throws -> [ActivityEntry] {
        let last = position ?? RecordPosition(.max, .max, .max)
        return try activity(
            try database.rows(
                """
                SELECT \(ActivityEntry.columns) FROM \(refused) AND reason = $1
                    AND (happened_at, user_id, number) < ($2, $3, $4)
                ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $5
                """,
                [code, last.first, last.second, last.third, limit], ActivityEntry.init))
    }
}

/// The position of a row in a list that is read by pages: the values by which the list is ordered.
package struct PagePosition<First, Second, Third>: Hashable, Sendable, LosslessStringConvertible
where
    First: LosslessStringConvertible & Hashable & Sendable, Second: LosslessStringConvertible & Hashable & Sendable,
    Third: LosslessStringConvertible & Hashable & Sendable
{
    package let first: First
    package let second: Second
    package let third: Third

    package init(_ first: First, _ second: Second, _ third: Third) {
        (self.first, self.second, self.third) = (first, second, third)
    }

    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !text.utf8.contains(0), let first = First(parts[0]), let second = Second(parts[1]),
            let third = Third(parts[2])
        else { return nil }
        self.init(first, second, third)
    }

    package var description: String { "\(first) \(second) \(third)" }
}

/// The position of a user's record in a list of those of all users: its time in milliseconds, the number of its user, and its
/// own.
package typealias RecordPosition = PagePosition<Int64, Int64, Int64>

extension PagePosition: Comparable where First: Comparable, Second: Comparable, Third: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.first, left.second, left.third) < (right.first, right.second, right.third)
    }
}
