import Proofs

/// A column with a time of the service's own clock on which the service acts.
///
/// A clock that was ahead leaves times that a right clock reaches days later: until then, nothing is asked, sent or checked again. So these
/// times are taken back when a service starts, and when its clock goes back. Times of stores, and those that only tell when something was
/// written, stay as they are.
package struct OwnTime: Sendable {
    package let column: String
    /// The longest time from now that a right clock writes, in units.
    fileprivate let reach: Int64
    /// The milliseconds of a unit of the column.
    fileprivate let unit: Int64
    /// The assignments after `SET`, with now in units as `$1`; nil to delete the row, whose time is then unknown.
    fileprivate let assignments: String?
    /// True if a clock that is behind must not take the time back, because that would end something early.
    package let endsEarly: Bool

    /// The difference of the clocks of two services that is no fault, in milliseconds.
    private static let tolerance: Int64 = 60_000

    /// A time in the units of the column.
    package func units(of milliseconds: Int64) -> Int64 { milliseconds / unit }

    /// The latest time that a right clock has written by a moment, in units.
    package func latest(at moment: Timestamp) -> Int64 {
        units(of: moment.millisecondsSince1970 + Self.tolerance) + reach
    }
}

extension Table {
    /// The same table with a column whose times are taken back to now if they are farther ahead than a right clock writes.
    ///
    /// - Parameters:
    ///   - seconds: The longest time from now that a right clock writes; 0 for a time that is over.
    ///   - unit: The milliseconds of a unit of the column. Another unit has no time ahead.
    ///   - assignments: The assignments after `SET` in SQL, with now as `$1`; nil for the column alone.
    ///   - endsEarly: True if a clock that is behind must not take the time back, because that would end something early.
    package func takingBack(
        _ column: String, within seconds: Int64 = 0, unit: Int64 = 1, setting assignments: String? = nil,
        endsEarly: Bool = false
    ) -> Table {
        var table = self
        table.ownTimes.append(
            OwnTime(
                column: column, reach: seconds * 1000 / unit, unit: unit,
                assignments: assignments ?? "\(column) = $1", endsEarly: endsEarly))
        return table
    }

    /// The same table with a column whose rows are deleted if their times are in the future.
    package func forgettingFuture(_ column: String) -> Table {
        var table = self
        table.ownTimes.append(OwnTime(column: column, reach: 0, unit: 1, assignments: nil, endsEarly: false))
        return table
    }
}

extension Ledger {
    /// The number of rows in one commit.
    private static let ownTimesAtOnce = 500

    /// Takes back the times that a wrong clock has written.
    ///
    /// - Parameter isBehind: True if the clock is known to be behind. What would end early then stays.
    /// - Returns: The number of changed rows by `TABLE.COLUMN`, without those of 0.
    package func takeBackOwnTimes(to now: Timestamp, isBehind: Bool) async throws -> [String: Int] {
        let tables = try await read { transaction in
            try transaction.database.tables.schema.tables.filter {
                try !$0.ownTimes.isEmpty && transaction.database.has($0.name)
            }
        }
        var counts: [String: Int] = [:]
        for table in tables {
            for time in table.ownTimes where !(isBehind && time.endsEarly) {
                var changed = 1
                // The loop ends at a page that changes nothing: another service is at work.
                while changed > 0 {
                    let keys = try await read {
                        try $0.keys(of: table, beyond: time, now, limit: Self.ownTimesAtOnce)
                    }
                    guard !keys.isEmpty else { break }
                    changed = try await writeInBackground { transaction in
                        try keys.reduce(0) { try $0 + transaction.takeBack(time, of: table, key: $1, to: now) }
                    }
                    if changed > 0 { counts["\(table.name).\(time.column)", default: 0] += changed }
                }
            }
        }
        return counts
    }
}

extension LedgerTransaction {
    /// The keys of rows whose time is too far ahead.
    fileprivate func keys(
        of table: Table, beyond time: OwnTime, _ now: Timestamp, limit: Int
    ) throws -> [[SQLValue]] {
        try database.rows(
            """
            SELECT \(table.key.joined(separator: ", ")) FROM \(table.quotedName)
            WHERE \(time.column) > $1 LIMIT \(limit)
            """,
            [time.latest(at: now)]
        ) { row in
            var key: [SQLValue] = []
            for _ in table.key { key.append(try row.nextValue()) }
            return key
        }
    }

    /// - Returns: The number of changed rows: 0 if another process has changed the row.
    fileprivate func takeBack(_ time: OwnTime, of table: Table, key: [SQLValue], to now: Timestamp) throws -> Int {
        let first = time.assignments == nil ? 1 : 2
        let conditions =
            table.key.enumerated().map { "\($0.element) = $\(first + $0.offset)" }
            + ["\(time.column) > $\(first + table.key.count)"]
        let arguments = key + [.integer(time.latest(at: now))]
        guard let assignments = time.assignments else {
            return try database.execute(
                "DELETE FROM \(table.quotedName) WHERE \(conditions.joined(separator: " AND "))", arguments)
        }
        return try database.execute(
            "UPDATE \(table.quotedName) SET \(assignments) WHERE \(conditions.joined(separator: " AND "))",
            [.integer(time.units(of: now.millisecondsSince1970))] + arguments)
    }
}
