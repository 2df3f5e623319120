import Foundation
import Ledger
import TestSupport
import Testing

/// The places of the tables on the nodes of Citus, and the command that distributes them.
@Suite struct DistributedPostgreSQLTests {
    private static let tables = [LedgerFeature].all.tables
    private static let placements = TablePlacement.all(of: tables)

    @Test func `the statements follow from the families of the tables`() throws {
        let statements = Dictionary(uniqueKeysWithValues: Self.placements.map { ($0.table, $0.statement) })
        #expect(statements["app"] == #"SELECT create_reference_table('"app"')"#)
        #expect(statements["claim"] == #"SELECT create_distributed_table('"claim"', 'transaction_id')"#)
        #expect(
            statements["user"]
                == #"SELECT create_distributed_table('"user"', 'user_id', colocate_with => 'none')"#)
        for table in Self.tables where table.family == .userData && table.name != "user" {
            #expect(
                statements[table.name]
                    == "SELECT create_distributed_table('\"\(table.name)\"', 'user_id', colocate_with => 'user')")
        }
    }

    @Test func `each table has one place, and so have the tables that PostgreSQL alone has`() throws {
        let source = try Project.text("Sources/Ledger/PostgreSQL/PostgreSQLSchema.swift")
        let own = source.matches(of: /CREATE TABLE (\w+)/).map { String($0.1) }
        #expect(own.count == 2)
        #expect(Self.placements.map(\.table).sorted() == (Self.tables.map(\.name) + own).sorted())
    }

    @Test func `small tables come first, and each table after those that it needs`() throws {
        let names = Self.placements.map(\.table)
        for table in Self.tables {
            let place = try #require(names.firstIndex(of: table.name))
            let group = table.family == .userData && table.name != "user" ? ["user"] : []
            for needed in table.references.map(\.table) + group {
                #expect(names[..<place].contains(needed), "\(table.name) needs \(needed)")
            }
            guard table.family == .everywhere else { continue }
            let earlier = Self.tables.filter { names[..<place].contains($0.name) }
            #expect(earlier.allSatisfy { $0.family == .everywhere })
        }
    }

    @Test func `a ledger without Citus is not distributed`() throws {
        guard !TestSchema.isDistributed else { return }
        let ledger = try LedgerFixture().ledger
        let reason: DistributionError = LedgerFixture.isFile ? .inFile : .extensionMissing
        #expect(throws: reason) { try ledger.distribute() }
    }

    @Test(.enabled(if: TestSchema.isDistributed)) func `a distributed ledger stays as it is`() throws {
        let report = try LedgerFixture().ledger.distribute()
        #expect(report.distributed.isEmpty)
        #expect(report.earlier == Self.placements.count)
        #expect(report.nodes > 1)
    }
}
