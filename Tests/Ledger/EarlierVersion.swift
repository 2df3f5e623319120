import Foundation
import GRDB
import Ledger
import TestSupport

/// The statements that make a ledger one of version 14 again.
enum EarlierVersion {
    static let tables = [
        "DROP INDEX spending_by_idempotency_key", "ALTER TABLE spending DROP COLUMN idempotency_key",
        "ALTER TABLE spending DROP COLUMN request_digest", "ALTER TABLE spending DROP COLUMN left_after",
        "DROP TABLE any_spelling",
    ]
    static let fileRecord = "DELETE FROM grdb_migrations WHERE identifier LIKE '15:%'"
    static let serverRecord = "INSERT INTO ledger_schema VALUES (14); DELETE FROM ledger_schema WHERE version > 14"
}

extension LedgerSuite {
    /// Makes a ledger of version 14, in which alice has an item.
    func makeLedgerOfVersionFourteen(at file: URL) throws {
        let ledger = try Ledger(file: file)
        try ledger.writeNow { _ = try $0.redeem([claim("1")], for: alice, at: Self.now) }
        try DatabaseQueue(path: file.path).write { database in
            for statement in EarlierVersion.tables + [EarlierVersion.fileRecord] {
                try database.execute(sql: statement)
            }
        }
    }
}
