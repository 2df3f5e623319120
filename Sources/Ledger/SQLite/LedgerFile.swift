import Foundation
import GRDB
import Proofs

/// The file of a ledger, for the commands of an operator. They add no tables and columns to it, because a service of an earlier
/// version may be running on it.
package struct LedgerFile: Sendable {
    private let url: URL
    private let features: [LedgerFeature]

    /// - Parameters:
    ///   - url: An existing file.
    ///   - features: All features.
    package init(_ url: URL, features: [LedgerFeature]) {
        self.url = url
        self.features = features
    }

    /// Checks the file and every rule of the ledger on a snapshot. Other processes may write meanwhile.
    ///
    /// - Throws: `StorageFault` if the file cannot be read, or is of another version.
    package func check() throws(StorageFault) -> LedgerReport {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        try SQLiteSchema.checkVersion(of: url, LedgerSchema(features))
        do {
            var report: LedgerReport?
            // SQLite checks the constraints of tables only on a writable connection.
            try DatabaseQueue(path: url.path).inTransaction(.deferred) { database in
                report = try Self.report(on: database, features)
                return .rollback
            }
            guard let report else { throw StorageFault(cause: .otherVersion, path: url.path) }
            return report
        } catch {
            throw SQLiteStorage.fault(error, path: url.path)
        }
    }

    /// - Returns: Nil for a ledger of another version.
    static func report(on database: Database, _ features: [LedgerFeature]) throws -> LedgerReport? {
        let schema = LedgerSchema(features)
        guard try SQLiteSchema.version(of: database) == schema.version else { return nil }
        func count(_ table: Table) throws -> Int {
            guard try database.tableExists(table.name) else { return 0 }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table.quotedName)") ?? 0
        }
        var problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(LedgerRules.maximumReported))")
            .filter { $0 != "ok" }
        for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(LedgerRules.maximumReported) {
            let (table, parent): (String, String) = (row["table"], row["parent"])
            problems.append("A row of \(table) refers to a missing row of \(parent).")
        }
        let differences = try SQLiteDefinitions.problems(of: database, schema)
        problems += differences
        let tables = SQLiteDatabase(database: database, tables: LedgerTables(schema))
        do { problems += try LedgerRules(database: tables).problems() } catch {
            // The rules read tables as the ledger defines them.
            if differences.isEmpty { throw error }
        }
        let rows = try schema.tables.map { ($0.name, try count($0)) }
        return LedgerReport(rows: Dictionary(uniqueKeysWithValues: rows), problems: problems)
    }

    /// Copies a snapshot of the ledger into a new file. Other processes may write meanwhile. The file gets its name only when
    /// all of it is on the disk.
    ///
    /// - Throws: `BackupError` if the file already exists or cannot be written; `StorageFault`.
    package func backUp(to file: URL) throws {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        do {
            try NewFile.make(at: file) { unfinished in
                let copy = try DatabaseQueue(path: unfinished.path)
                try DatabaseQueue(path: url.path).backup(to: copy)
                // The backup is one file without auxiliary files.
                try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
                try copy.close()
            }
        } catch {
            switch error {
            case let error as BackupError: throw error
            case let fault as StorageFault: throw fault
            case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
                throw StorageFault(cause: .diskFull, path: file.path)
            case let error as DatabaseError
            where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT:
                throw StorageFault(cause: .damaged, path: url.path)
            default: throw BackupError.notWritten(path: file.path)
            }
        }
    }
}
