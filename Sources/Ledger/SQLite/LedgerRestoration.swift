import Foundation
import GRDB
import Proofs
import Vocabulary

extension LedgerFile {
    /// Replaces the file, which need not exist, by a backup without its sessions.
    ///
    /// The backup is copied, checked and changed under another name. One rename then replaces the ledger, so that a crash leaves
    /// either the old ledger or the new one. The backup itself stays unchanged.
    ///
    /// - Parameters:
    ///   - moment: The time that names the file of the replaced ledger.
    ///   - revokesRevivedKeys: True if API keys that were revoked since the backup are revoked again.
    /// - Throws: `RestorationError`, `StorageFault`; the ledger is then unchanged.
    package func restore(
        from backup: URL, at moment: Timestamp, revokesRevivedKeys: Bool = true
    ) throws -> RestorationReport {
        let lock: LedgerLock
        do { lock = try LedgerLock(url, .exclusive) } catch {
            throw error.cause == .busy ? RestorationError.inUse(path: url.path) : error
        }
        defer { withExtendedLifetime(lock) {} }
        // SQLite's auxiliary files are next to the target of a symbolic link.
        let place = DatabaseFile(url: url.resolvingSymlinksInPath())
        let source = DatabaseFile(url: backup.resolvingSymlinksInPath())
        guard !source.isSame(as: place) else { throw RestorationError.sameFile(path: backup.path) }
        let copy = try BackupCopy(of: source, beside: place, features)
        defer { copy.discard() }
        let contents = try copy.check()
        let replaced = try ReplacedLedger(place)
        let revived = try replaced.revokedKeys.map { try copy.valid($0) }
        let sessions = try copy.complete(revoking: revokesRevivedKeys ? revived ?? [] : [])
        return RestorationReport(
            contents: contents, endedSessions: sessions, revivedKeys: revived, revokedAgain: revokesRevivedKeys,
            previous: try replaced.replace(with: copy.file, at: moment))
    }
}

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
            try database.closeAsOneFile()
            return keys
        } catch is ColumnMismatch {
            return nil
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED: throw RestorationError.inUse(path: file.url.path)
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: return nil
            default: throw StorageFault(error, path: file.url.path)
            }
        }
    }

    private static func readRevokedKeys(_ database: Database) throws -> [RestorationReport.RevivedKey] {
        guard try database.tableExists("api_key") else { return [] }
        return try SQLiteDatabase(database: database, tables: LedgerTables([])).rows(
            "SELECT key_id, name, revoked_at FROM api_key WHERE revoked_at IS NOT NULL ORDER BY revoked_at, key_id"
        ) { row in
            RestorationReport.RevivedKey(
                identifier: try row.next(), name: try row.next(), revokedAt: try row.next())
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
            DatabaseFile(url: folder.appending(path: name, directoryHint: .notDirectory))
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

/// The reason why a backup does not replace the ledger.
package enum RestorationError: StatedError, Equatable {
    /// Another process has the ledger open.
    case inUse(path: String)
    /// The backup is the ledger itself.
    case sameFile(path: String)
    case unreadable(path: String)
    case notALedger(path: String)
    case otherVersion(path: String)
    /// The backup breaks rules. `problems` has a sentence for each.
    case inconsistent(path: String, problems: [String])

    package var statement: CommandError {
        switch self {
        case .inUse(let path):
            CommandError(
                "restorationLedgerInUse",
                "\"\(path)\" is in use. Stop the service and every other till command on it, then try again.")
        case .sameFile(let path):
            CommandError("restorationIsTheLedger", "\"\(path)\" is the ledger itself. Name a backup of it.")
        case .unreadable(let path):
            CommandError("restorationUnreadable", NamedFile.fault(of: path))
        case .notALedger(let path):
            CommandError(
                "restorationNotALedger",
                "\"\(path)\" is not a ledger, or is damaged. Name another backup; the ledger in place is unchanged.")
        case .otherVersion(let path):
            CommandError(
                "restorationOtherVersion",
                "\"\(path)\" was written by another version of Till. Restore it with that version.")
        case .inconsistent(let path, let problems):
            CommandError(
                "restorationUnsound",
                "\"\(path)\" is damaged. Name another backup; the ledger in place is unchanged. "
                    + problems.joined(separator: " "))
        }
    }
}

/// The result of restoring a backup.
package struct RestorationReport: Sendable {
    /// An API key that is valid in the backup, and was revoked after the backup.
    package struct RevivedKey: Hashable, Sendable {
        package let identifier: String
        package let name: String
        package let revokedAt: Timestamp
    }

    /// The ledger that was in place before.
    package enum Previous: Hashable, Sendable {
        case missing
        /// The ledger is complete in this file.
        case kept(URL)
        /// The ledger could not be read, and is unchanged in this file.
        case keptDamaged(URL)

        package var file: URL? {
            switch self {
            case .missing: nil
            case .kept(let file), .keptDamaged(let file): file
            }
        }
    }

    package let contents: LedgerReport
    package let endedSessions: Int
    /// The API keys that the backup would revive; nil if the ledger in place could not be read.
    package let revivedKeys: [RevivedKey]?
    /// True if the revived keys were revoked again.
    package let revokedAgain: Bool
    package let previous: Previous
}

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
            try database.closeAsOneFile()
            return sessions
        }
    }

    private func reporting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw Self.error(error, backup: backup) }
    }

    private static func error(_ error: any Error, backup: URL) -> any Error {
        switch error {
        case let error as RestorationError: error
        case let error as DatabaseError where error.isOfDamage: RestorationError.notALedger(path: backup.path)
        default: StorageFault(error, path: backup.path)
        }
    }
}
