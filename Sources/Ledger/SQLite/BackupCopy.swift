import Foundation
import GRDB
import Proofs

/// A private copy of a backup, next to the ledger that it will replace.
struct BackupCopy {
    let file: DatabaseFile
    private let backup: URL
    private let database: DatabaseQueue
    private let features: [LedgerFeature]

    /// - Throws: `RestorationError` if the backup cannot be read; `StorageFault` if the copy cannot be written.
    init(of backup: DatabaseFile, beside ledger: DatabaseFile, _ features: [LedgerFeature]) throws {
        self.backup = backup.url
        self.features = features
        let file = DatabaseFile(url: ledger.url.appendingPathExtension("restoring"))
        self.file = file
        do {
            // A crash may have left these files behind.
            try file.remove()
            try file.removeAuxiliaryFiles()
            try backup.copy(to: file)
            for suffix in backup.partSuffixes { try backup.auxiliaryFile(suffix).copy(to: file.auxiliaryFile(suffix)) }
            database = try DatabaseQueue(path: file.url.path)
        } catch {
            Self.discard(file)
            throw Self.error(error, backup: backup.url)
        }
    }

    /// Removes the copy, unless it has replaced the ledger.
    func discard() {
        Self.discard(file)
    }

    private static func discard(_ file: DatabaseFile) {
        try? file.remove()
        try? file.removeAuxiliaryFiles()
    }

    /// Checks that the copy is a ledger, that the file is intact, and that every rule of the ledger holds.
    ///
    /// - Throws: `RestorationError`, `StorageFault`.
    func check() throws -> LedgerReport {
        let found = try reporting {
            try LedgerFile.report(on: database, features) { database in
                guard try database.tableExists("audit") else { throw RestorationError.notALedger(path: backup.path) }
            }
        }
        guard let report = found else { throw RestorationError.otherVersion(path: backup.path) }
        guard report.problems.isEmpty else {
            throw RestorationError.inconsistent(path: backup.path, problems: report.problems)
        }
        return report
    }

    /// The API keys of a list that are valid in the backup.
    ///
    /// - Throws: `RestorationError`, `StorageFault`.
    func valid(_ keys: [RestorationReport.RevivedKey]) throws -> [RestorationReport.RevivedKey] {
        try reporting {
            try database.read { database in
                guard try database.tableExists("api_key") else { return [] }
                let valid = try String.fetchSet(database, sql: "SELECT key_id FROM api_key WHERE revoked_at IS NULL")
                return keys.filter { valid.contains($0.identifier) }
            }
        }
    }

    /// Ends all sessions, revokes API keys, and waits until the copy is one complete file on the disk.
    ///
    /// - Returns: The number of ended sessions.
    /// - Throws: `RestorationError`, `StorageFault`.
    func complete(revoking keys: [RestorationReport.RevivedKey]) throws -> Int {
        try reporting {
            let sessions = try database.write { database -> Int in
                for key in keys {
                    try database.execute(
                        sql: "UPDATE api_key SET revoked_at = ? WHERE key_id = ? AND revoked_at IS NULL",
                        arguments: [key.revokedAt.millisecondsSince1970, key.identifier])
                }
                let deleted = features.flatMap(\.tables).filter { $0.restoration != nil }
                // Referencing rows are deleted before the rows that they refer to.
                return try deleted.reversed().reduce(0) { count, table in
                    guard try database.tableExists(table.name) else { return count }
                    try database.execute(sql: "DELETE FROM \(table.quotedName)")
                    return table.restoration == .sessionDeletion ? count + database.changesCount : count
                }
            }
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try database.close()
            return sessions
        }
    }

    private func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw Self.error(error, backup: backup) }
    }

    private static func error(_ error: any Error, backup: URL) -> any Error {
        switch error {
        case let error as RestorationError: error
        case let error as DatabaseError
        where error.resultCode == .SQLITE_NOTADB || error.resultCode == .SQLITE_CORRUPT:
            RestorationError.notALedger(path: backup.path)
        default: StorageFault(error, path: backup.path)
        }
    }
}
