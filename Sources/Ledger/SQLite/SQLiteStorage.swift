import Commerce
import Foundation
import GRDB
import Signatures
import Synchronization

/// The rows of a ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL: what was answered survives a crash
/// of the process and of the machine. Several processes may open it at once.
///
/// Promises: what reads never waits for what writes; parts that are committed together share one sync; once the disk has failed
/// to take what was written, this object answers nothing any more (`storageStopped`), since the system may have forgotten
/// what did not reach it, and trying again would tell of a success that is none.
package final class SQLiteStorage: LedgerStorage {
    private let writer: DatabaseQueue
    private let readers: SQLiteReaders
    private let tables: LedgerTables
    /// Keeps the file in its place until it is closed.
    private let lock: LedgerLock
    private let path: String
    private let observers = ChangeObservers()
    /// Whether the disk has failed to take what was written.
    private let isStopped = Atomic(false)
    /// Whether something of the file was read that cannot be: the connection that writes may remember it.
    private let hasReadDamage = Atomic(false)
    /// Requests since what they wrote was last moved from the write-ahead log into the database. Each writes about 4 KB.
    private let requestsSinceCheckpoint = Atomic(0)
    private static let requestsPerCheckpoint = 1024

    /// Opens the file, making it when there is none.
    ///
    /// - Parameters:
    ///   - features: All features there are.
    ///   - takesOver: Whether one of an earlier version becomes one of this; a service of that version may be running on it.
    /// - Throws: `StorageFault`.
    package init(file: URL, features: [LedgerFeature], takesOver: Bool = true) throws(StorageFault) {
        path = file.path
        let tables = LedgerTables(LedgerSchema(features))
        self.tables = tables
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        // SQLite would tell nobody that a checkpoint of its own has failed.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        readers = SQLiteReaders(path: file.path, configuration: configuration, tables: tables)
        lock = try LedgerLock(file, .shared)
        do {
            // One at a time: two that found a new file would both make its tables.
            writer = try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                let writer = try DatabaseQueue(path: file.path, configuration: configuration)
                try writer.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL, under which a power cut may take back what was answered.
                    try database.execute(sql: "PRAGMA synchronous = FULL")
                    // One connection writes: what it needs again and again has its place in memory, in KiB.
                    try database.execute(sql: "PRAGMA cache_size = -16384")
                }
                let earlier = try writer.writeWithoutTransaction { database in
                    let earlier = try SQLiteSchema.version(of: database)
                    try database.inTransaction(.immediate) {
                        let cause = try SQLiteSchema.prepare(database, tables.schema, takesOver: takesOver)
                        if let cause { throw StorageFault(cause: cause, path: file.path) }
                        return .commit
                    }
                    return earlier
                }
                // What a process before has left in the log may have failed to reach the disk: nothing is added behind it.
                do {
                    // The log of a conversion is as large as the ledger.
                    let isConverted = earlier != LedgerSchema.version
                    _ = try writer.writeWithoutTransaction { try $0.checkpoint(isConverted ? .truncate : .passive) }
                } catch let error as DatabaseError where error.resultCode != .SQLITE_IOERR {
                    // Another process is at it, or there is no space: neither keeps anybody from the ledger.
                }
                return writer
            }
        } catch is PrivateFile.Failure {
            throw StorageFault(cause: .cannotOpen, path: file.path)
        } catch {
            throw Self.fault(error, path: file.path)
        }
    }

    deinit {
        readers.close()
    }

    package var dialect: SQLDialect { .sqlite }

    package var prefersInlineReads: Bool { true }

    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.add(observer)
    }

    package var damaged: StorageFault { StorageFault(cause: .damaged, path: path) }

    package func read<Value>(
        _ extent: ReadExtent,
        _ body: (any LedgerDatabase) throws -> Value
    ) throws -> Value {
        do {
            try checkRunning()
            return try readers.read(extent, body)
        } catch {
            throw translated(error)
        }
    }

    package func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        requestsSinceCheckpoint.add(parts.reduce(0) { $0 + $1.count }, ordering: .relaxed)
        guard let first = parts.first, parts.count == 1 else { return commitTogether(parts) }
        // A part alone needs no savepoint.
        do {
            try transaction { try first.perform($0) }
            return Array(repeating: nil, count: first.count)
        } catch {
            return first.count > 1 ? commitTogether(first.pieces()) : [error]
        }
    }

    private func commitTogether(_ parts: [LedgerPart]) -> [(any Error)?] {
        do {
            return try transaction { database in
                try parts.flatMap { part in try part.errors { try perform($0, in: database) } }
            }
        } catch {
            return parts.flatMap { Array(repeating: error, count: $0.count) }
        }
    }

    /// Performs a part in a savepoint.
    ///
    /// - Returns: The error that undid the part.
    /// - Throws: The error that ended the whole transaction.
    private func perform(_ part: LedgerPart, in database: SQLiteDatabase) throws -> (any Error)? {
        try checkRunning()
        do {
            try database.write("SAVEPOINT part", [])
            try part.perform(database)
            // A full disk ends the whole transaction, even if the part has caught the error.
            guard database.database.isInsideTransaction else { throw StorageFault(cause: .failed, path: path) }
            try database.write("RELEASE part", [])
            return nil
        } catch {
            notice(error)
            guard database.database.isInsideTransaction else { throw error }
            do {
                try database.write("ROLLBACK TO part", [])
                try database.write("RELEASE part", [])
            } catch {
                // Half a part is never kept. Then nothing of the group is.
                try? database.write("ROLLBACK", [])
                throw error
            }
            return translated(error)
        }
    }

    /// All of `body` in one commit, or nothing.
    private func transaction<Value>(_ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let changed = ChangedUsers()
        defer { if hasReadDamage.exchange(false, ordering: .relaxed) { writer.releaseMemory() } }
        do {
            let value = try writer.writeWithoutTransaction {
                try commit({ try body(SQLiteDatabase(database: $0, tables: tables, changed: changed)) }, on: $0)
            }
            observers.tell(changed.numbers)
            checkpointSometimes()
            return value
        } catch {
            notice(error)
            throw translated(error)
        }
    }

    /// Whoever comes next on this connection finds the ledger stopped, if the commit fails to reach the disk.
    private func commit<Value>(_ body: (Database) throws -> Value, on database: Database) throws -> Value {
        try checkRunning()
        var result: Value?
        do {
            try database.inTransaction(.immediate) {
                result = try body(database)
                return .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            notice(error)
            throw StorageFault(cause: .stopped, path: path)
        }
        guard let result else { throw StorageFault(cause: .failed, path: path) }
        return result
    }

    private func checkRunning() throws(StorageFault) {
        guard !isStopped.load(ordering: .sequentiallyConsistent) else {
            throw StorageFault(cause: .stopped, path: path)
        }
    }

    /// What was committed is on the disk already, in the log. What others still read stays there until the next time, and so
    /// does what there is no space for; only a disk that fails ends it all, for whoever comes next.
    private func checkpointSometimes() {
        guard requestsSinceCheckpoint.load(ordering: .relaxed) > Self.requestsPerCheckpoint else { return }
        requestsSinceCheckpoint.store(0, ordering: .relaxed)
        do {
            _ = try writer.writeWithoutTransaction { try $0.checkpoint(.passive) }
        } catch {
            if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { stop() }
        }
    }

    /// What an error on the connection that writes means for who comes next.
    private func notice(_ error: any Error) {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_IOERR?: stop()
        case .SQLITE_CORRUPT?, .SQLITE_NOTADB?: hasReadDamage.store(true, ordering: .relaxed)
        default: break
        }
    }

    private func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
    }

    /// An error of a use case: the fault behind an error of the database, or the use case's own error.
    private func translated(_ error: any Error) -> any Error {
        error is DatabaseError || error is SQLRow.Mismatch ? Self.fault(error, path: path) : error
    }

    static func fault(_ error: any Error, path: String) -> StorageFault {
        if let fault = error as? StorageFault { return fault }
        if error is SQLRow.Mismatch { return StorageFault(cause: .damaged, path: path) }
        guard let error = error as? DatabaseError else { return StorageFault(cause: .failed, path: path) }
        return StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path)
    }
}
