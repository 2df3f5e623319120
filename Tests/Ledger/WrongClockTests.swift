import Entitlements
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing

/// A full ledger after a clock that was wrong.
extension LedgerExportTests {
    private static let far: Int64 = 400 * 86_400_000

    /// The rows whose column has a time, by the names of the columns.
    private func counts(of time: Int64, in database: Database) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in [LedgerFeature].all.tables {
            for own in table.ownTimes {
                let sql = "SELECT count(*) FROM \"\(table.name)\" WHERE \(own.column) = ?"
                let count = try Int.fetchOne(database, sql: sql, arguments: [own.units(of: time)]) ?? 0
                if count > 0 { counts["\(table.name).\(own.column)"] = count }
            }
        }
        return counts
    }

    /// Sets a time in each row of a full ledger.
    private func set(_ time: (OwnTime) -> Int64, in database: Database) throws {
        for table in [LedgerFeature].all.tables {
            for own in table.ownTimes {
                // An end must stay after its beginning.
                let end =
                    ["began_at", "created_at"].contains(own.column)
                        && table.definition(in: .sqlite).contains("ends_at ")
                    ? ", ends_at = \(time(own) + 1000)" : ""
                try database.execute(
                    sql: "UPDATE \"\(table.name)\" SET \(own.column) = ?\(end) WHERE \(own.column) IS NOT NULL",
                    arguments: [time(own)])
            }
        }
    }

    @Test(.enabled(if: LedgerFixture.isFile), arguments: [false, true])
    func `each time that only a wrong clock writes is taken back, in each table`(isBehind: Bool) async throws {
        try await fill()
        try await fillOtherTables()
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        let now = Self.later(86_400 * 60)
        let latest = now.millisecondsSince1970 + 60_000
        // What a right clock may write stays.
        try await database.write { try self.set({ $0.latest(at: now) }, in: $0) }
        #expect(try await ledger.takeBackOwnTimes(to: now, isBehind: isBehind) == [:])
        try await database.write { try self.set({ $0.units(of: latest + Self.far) }, in: $0) }
        let before = try await database.read { try self.counts(of: latest + Self.far, in: $0) }
        let expected = [LedgerFeature].all.tables.flatMap { table in
            table.ownTimes.filter { !(isBehind && $0.endsEarly) }.map { "\(table.name).\($0.column)" }
        }
        #expect(Set(expected).isSubset(of: before.keys))
        let changed = try await ledger.takeBackOwnTimes(to: now, isBehind: isBehind)
        // A column may be taken back with another one of its table.
        #expect(Set(changed.keys).union(["google_purchase.ask_at"]) == Set(expected))
        let left = try await database.read { try self.counts(of: latest + Self.far, in: $0) }
        #expect(Set(left.keys).isDisjoint(with: expected))
        #expect(try await ledger.takeBackOwnTimes(to: now, isBehind: isBehind) == [:])
    }
}
