import Commerce
import Foundation
import GRDB
import Signatures

/// The file of a ledger, for what an operator does with it besides serving from it. It stays of the version it is of: a service
/// of an earlier version may be running on it.
public struct LedgerFile: Sendable {
    private let url: URL
    private let features: [LedgerFeature]

    /// - Parameters:
    ///   - url: Of a file that is there.
    ///   - features: All features there are.
    package init(_ url: URL, features: [LedgerFeature]) {
        self.url = url
        self.features = features
    }

    /// Checks that the file is whole and that every rule of the ledger holds, all as of one moment; others may go on writing.
    ///
    /// - Throws: `StorageFault` where it cannot be read, or was written by a newer version.
    public func check() throws(StorageFault) -> LedgerReport {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        do {
            var report: LedgerReport?
            // SQLite checks the constraints of tables only for who might write.
            try DatabaseQueue(path: url.path).inTransaction(.deferred) { database in
                report = try Self.report(on: database, features)
                return .rollback
            }
            guard let report else { throw StorageFault(cause: .newerVersion, path: url.path) }
            return report
        } catch {
            throw SQLiteStorage.fault(error, path: url.path)
        }
    }

    /// - Returns: nil for a ledger of a newer version.
    static func report(on database: Database, _ features: [LedgerFeature]) throws -> LedgerReport? {
        guard let version = try SQLiteSchema.version(of: database) else { return nil }
        let isOfThisVersion = version == LedgerSchema.version
        func count(_ table: Table) throws -> Int {
            guard try database.tableExists(table.name) else { return 0 }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table.quotedName)") ?? 0
        }
        var problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(LedgerRules.maximumTold))")
            .filter { $0 != "ok" }
        for row in try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(LedgerRules.maximumTold) {
            let (table, parent): (String, String) = (row["table"], row["parent"])
            problems.append("A row of \(table) refers to one of \(parent) that is not there.")
        }
        let schema = LedgerSchema(features)
        if isOfThisVersion {
            let tables = SQLiteDatabase(database: database, tables: LedgerTables(schema))
            problems += try LedgerRules(database: tables).problems()
        }
        let rows = try schema.tables.map { ($0.name, try count($0)) }
        return LedgerReport(
            rows: Dictionary(uniqueKeysWithValues: rows), isOfThisVersion: isOfThisVersion, problems: problems)
    }

    /// Copies the ledger as of one moment into a new file, while others go on writing. The file is whole and on the disk when
    /// it is there under its name.
    ///
    /// - Throws: `BackupError` where the file is there already, or cannot be written; `StorageFault`.
    public func backUp(to file: URL) throws {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        do {
            try NewFile.make(at: file) { unfinished in
                let copy = try DatabaseQueue(path: unfinished.path)
                try DatabaseQueue(path: url.path).backup(to: copy)
                // One file, which needs no other beside it.
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
