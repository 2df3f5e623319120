import Foundation
import Ledger
import TestSupport
import Testing

/// The comparison of the statements in the documentation of Citus with the descriptions of the tables.
@Suite struct DistributedPostgreSQLTests {
    private static let tables = [LedgerFeature].all.tables

    /// The table with which all user data is colocated.
    private static let root = "user"

    /// The statements for the tables that only a ledger in PostgreSQL has.
    private static let ownStatements = [
        "ledger_schema": "SELECT create_reference_table('ledger_schema');",
        "ledger_commit": "SELECT create_distributed_table('ledger_commit', 'token');",
    ]

    /// The statement that distributes a table.
    private static func statement(for table: Table) throws -> String {
        let column = try #require(table.key.first)
        switch table.family {
        case .everywhere:
            return "SELECT create_reference_table('\(table.name)');"
        case .globalKey:
            return "SELECT create_distributed_table('\(table.name)', '\(column)');"
        case .userData:
            let group = table.name == root ? "none" : root
            return "SELECT create_distributed_table('\(table.name)', '\(column)', colocate_with => '\(group)');"
        }
    }

    /// The statements of the page, in order.
    private static func statements() throws -> [String] {
        try Project.text("Documentation/DistributedPostgreSQL.md").split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("SELECT ") }
    }

    @Test func `the page has one statement for each table, which follows from its description`() throws {
        let stated = try Self.statements()
        let derived = try Self.tables.map { try Self.statement(for: $0) } + Self.ownStatements.values
        #expect(Set(stated).count == stated.count)
        #expect(Set(derived).subtracting(stated) == [])
        #expect(Set(stated).subtracting(derived) == [])
    }

    @Test func `the page has the tables that PostgreSQL alone has`() throws {
        let source = try Project.text("Sources/Ledger/PostgreSQL/PostgreSQLSchema.swift")
        let names = source.matches(of: /CREATE TABLE (\w+)/).map { String($0.1) }
        #expect(Set(names) == Set(Self.ownStatements.keys))
    }

    @Test func `small tables come first, and each table after those that it needs`() throws {
        let statements = try Self.statements()
        func place(of table: String) throws -> Int {
            try #require(statements.firstIndex { $0.contains("('\(table)'") })
        }
        let small = statements.prefix { $0.hasPrefix("SELECT create_reference_table(") }
        #expect(small.count == statements.filter { $0.contains("create_reference_table(") }.count)
        for table in Self.tables {
            let group = table.family == .userData && table.name != Self.root ? [Self.root] : []
            for needed in table.references.map(\.table) + group {
                let (first, second) = (try place(of: needed), try place(of: table.name))
                #expect(first < second, "\(table.name) needs \(needed)")
            }
        }
    }
}
