import Foundation
import GRDB
import Proofs

/// The ledger in place, before a backup replaces it.
struct ReplacedLedger {
    private let file: DatabaseFile
    /// The API keys revoked in the ledger; nil if there is no ledger, or if it is damaged.
    let revokedKeys: [RestorationReport.RevivedKey]?

    /// Reads the ledger, and moves its write-ahead log into it, so that it is one complete file.
    ///
    /// - Throws: `RestorationError` if another process has it open; `StorageFault`.
    init(_ file: DatabaseFile) throws {
        self.file = file
        revokedKeys = file.exists ? try Self.settle(file) : nil
    }

    /// - Returns: Nil for a damaged ledger.
    private static func settle(_ file: DatabaseFile) throws -> [RestorationReport.RevivedKey]? {
        do {
            let database = try DatabaseQueue(path: file.url.path)
            let keys = try database.read(readRevokedKeys)
            // SQLite refuses this if another connection is open, for example one of another program.
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try database.close()
            return keys
        } catch is SQLRow.Mismatch {
            return nil
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw RestorationError.inUse(path: file.url.path)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: return nil
            default: throw SQLiteStorage.fault(error, path: file.url.path)
            }
        }
    }

    private static func readRevokedKeys(_ database: Database) throws -> [RestorationReport.RevivedKey] {
        guard try database.tableExists("api_key") else { return [] }
        return try SQLiteDatabase(database: database, tables: LedgerTables(LedgerSchema([]))).rows(
            "SELECT key_id, name, revoked_at FROM api_key WHERE revoked_at IS NOT NULL ORDER BY revoked_at, key_id", []
        ).map { row in
            RestorationReport.RevivedKey(
                identifier: try row["key_id"], name: try row["name"], revokedAt: try row["revoked_at"])
        }
    }

    /// Replaces the ledger by another file, and keeps the ledger under another name.
    ///
    /// A crash leaves one of both files in place, without auxiliary files of the other.
    ///
    /// - Throws: `RestorationError`, `StorageFault`. An error before the rename leaves the ledger in place.
    func replace(with new: DatabaseFile, at moment: Timestamp) throws -> RestorationReport.Previous {
        let kept = file.exists ? try keep(at: moment) : nil
        do {
            try file.syncFolder()
            // The write-ahead log of one database would damage another.
            try file.removeAuxiliaryFiles()
            try file.syncFolder()
            try new.replace(file)
        } catch {
            if let kept { restore(kept) }
            throw error
        }
        try file.syncFolder()
        guard let kept else { return .missing }
        return revokedKeys == nil ? .keptDamaged(kept.url) : .kept(kept.url)
    }

    private func keep(at moment: Timestamp) throws -> DatabaseFile {
        let folder = file.url.deletingLastPathComponent()
        let prefix = file.url.deletingPathExtension().lastPathComponent + ".before-restore-"
        func named(_ name: String) -> DatabaseFile {
            DatabaseFile(folder.appending(path: name, directoryHint: .notDirectory))
        }
        // A crash may have left the ledger with a second name.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        where name.hasPrefix(prefix) && named(name).isSame(as: file) && named(name).partSuffixes.isEmpty {
            try named(name).remove()
        }
        let name = prefix + moment.rfc3339.filter { $0 != "-" && $0 != ":" }
        var (kept, number) = (named(name + ".sqlite"), 2)
        while kept.exists {
            kept = named("\(name)-\(number).sqlite")
            number += 1
        }
        do {
            try file.keep(as: kept)
            for suffix in file.partSuffixes { try file.auxiliaryFile(suffix).keep(as: kept.auxiliaryFile(suffix)) }
        } catch {
            restore(kept)
            throw error
        }
        return kept
    }

    private func restore(_ kept: DatabaseFile) {
        for suffix in kept.partSuffixes {
            let part = file.auxiliaryFile(suffix)
            if !part.exists { try? kept.auxiliaryFile(suffix).replace(part) }
            try? kept.auxiliaryFile(suffix).remove()
        }
        try? kept.remove()
    }
}
