import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Ledgers that another version of Till wrote.
@Suite struct LedgerVersionTests: LedgerSuite {
    /// Changes that make a file one of a development version, of another program, or of a later version.
    private static let changes = [
        "PRAGMA user_version = 0; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
        "PRAGMA user_version = 0; DROP TABLE wish", "PRAGMA user_version = 2; DROP TABLE wish",
    ]

    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func expectRefusal(of file: URL) {
        for migrates in [true, false] {
            #expect(throws: StorageFault(cause: .otherVersion, path: file.path)) {
                try Ledger(file: file, migrates: migrates)
            }
        }
        #expect(throws: StorageFault(cause: .otherVersion, path: file.path)) { try LedgerFile(file).check() }
    }

    @Test(.enabled(if: LedgerFixture.isFile), arguments: changes, ["WAL", "DELETE"])
    func `a file of another version is refused, and stays unchanged`(change: String, journal: String) async throws {
        let file = folder.file("other.sqlite")
        try await LedgerFixture.withLedger(at: file) { ledger in
            _ = try await ledger.write { try $0.redeem([claim()], for: alice, at: Self.now) }
        }
        let database = try DatabaseQueue(path: file.path)
        try await database.writeWithoutTransaction {
            try $0.execute(sql: "\(change); PRAGMA journal_mode = \(journal)")
        }
        try database.close()
        let before = try Data(contentsOf: file)
        expectRefusal(of: file)
        #expect(try Data(contentsOf: file) == before)
    }

    @Test(.enabled(if: LedgerFixture.isFile), arguments: changes)
    func `a refused file keeps the write-ahead log that a crash left`(change: String) async throws {
        let (source, file) = (folder.file("ledger.sqlite"), folder.file("crashed.sqlite"))
        _ = try await redeem(claim(), for: alice)
        let database = try DatabaseQueue(path: source.path)
        try await database.writeWithoutTransaction { try $0.execute(sql: change) }
        let log = (URL(filePath: source.path + "-wal"), URL(filePath: file.path + "-wal"))
        try FileManager.default.copyItem(at: source, to: file)
        try FileManager.default.copyItem(at: log.0, to: log.1)
        let before = [try Data(contentsOf: file), try Data(contentsOf: log.1)]
        #expect(!before[1].isEmpty)
        expectRefusal(of: file)
        #expect([try Data(contentsOf: file), try Data(contentsOf: log.1)] == before)
    }

    @Test(.enabled(if: !LedgerFixture.isFile), arguments: [2, 21])
    func `a database of another version is refused, and stays unchanged`(version: Int) throws {
        let schema = try TestSchema()
        let address = try schema.ledgerAddress
        _ = try Ledger(address)
        func tables() throws -> [String] {
            try schema.execute(
                """
                SELECT table_name || '.' || column_name AS name FROM information_schema.columns
                WHERE table_schema = current_schema()
                UNION ALL SELECT version::text FROM ledger_schema ORDER BY name
                """)
        }
        // A ledger of this version would get the missing table.
        try schema.execute("UPDATE ledger_schema SET version = \(version); DROP TABLE wish")
        let before = try tables()
        for migrates in [true, false] {
            #expect { try Ledger(address, migrates: migrates) } throws: {
                ($0 as? StorageFault)?.cause == .otherVersion
            }
        }
        #expect(try tables() == before)
    }

    @Test func `the refusal says what to do`() {
        #expect(
            StorageFault(cause: .otherVersion, path: "data/ledger.sqlite").message
                == #""data/ledger.sqlite" was written by another version of Till. Use that version, or a new data directory or database."#
        )
    }

    @Test func `an export of another version is refused`() async throws {
        for version in [0, 2, 21] {
            var text: Data? = Data("{\"version\":\(version)}\n".utf8)
            #expect(throws: ImportError.versionOther(version)) {
                try ledger.importLines { () throws(ImportError) -> Data? in
                    defer { text = nil }
                    return text
                }
            }
        }
    }
}
