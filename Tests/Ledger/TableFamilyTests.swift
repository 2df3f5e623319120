import Ledger
import TestSupport
import Testing

/// The rules for tables that a distributed PostgreSQL accepts unchanged.
@Suite struct TableFamilyTests {
    private static let all = [LedgerFeature].all.tables
    private static let tables = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    @Test(arguments: all.map(\.name)) func `every unique key contains the distribution column`(name: String)
        throws
    {
        let table = try #require(Self.tables[name])
        let unique = [table.key] + table.unique + table.indexes.filter(\.isUnique).map(\.columns)
        guard table.family != .everywhere else { return }
        let distribution = try #require(table.key.first)
        #expect(unique.allSatisfy { $0.contains(distribution) })
        #expect((distribution == "user_id") == (table.family == .userData))
    }

    @Test(arguments: all.map(\.name)) func `foreign keys stay within one user`(name: String) throws {
        for reference in try #require(Self.tables[name]).references {
            let target = try #require(Self.tables[reference.table])
            #expect(Self.tables[name]?.family == .userData && target.family == .userData)
            #expect(reference.columns.first == "user_id")
            // A foreign key refers to the whole key of its table.
            #expect(reference.columns.count == target.key.count)
        }
    }

    @Test(arguments: all.map(\.name)) func `PostgreSQL has no trigger, cascade, sequence or collation`(
        name: String
    ) throws {
        let definition = try #require(Self.tables[name]).definition(in: .postgreSQL).uppercased()
        for word in ["TRIGGER", "CASCADE", "SERIAL", "IDENTITY", "NEXTVAL", "COLLATE", "DEFAULT", "FUNCTION"] {
            #expect(!definition.contains(word))
        }
    }

    @Test func `the keys of purchases contain the app`() throws {
        for name in ["claim", "parked_transaction", "parked_original"] {
            #expect(try #require(Self.tables[name]).key.contains("app"))
        }
    }
}
