import Foundation
import GRDB
import Proofs
import Synchronization
import Vocabulary

/// The rows of a ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL. An answered write survives a crash
/// of the process and of the machine. Several processes may open the file at once.
///
/// The storage promises:
/// - Readers never wait for writers.
/// - Parts in one commit share one sync.
/// - After a failed write to the disk, the storage answers nothing any more (`storageStopped`). The system may have dropped the
///   unwritten pages, so that a retry would report a success that is none.
package final class SQLiteStorage: LedgerStorage {
    private let writer: DatabaseQueue
    private let readers: SQLiteReaders
    private let log = WriteAheadLog()
    private let tables: LedgerTables
    /// The lock that keeps other processes from replacing the file.
    private let lock: LedgerLock
    private let path: String
    private let observers = ChangeObservers()
    private let stopObservers = Mutex<[@Sendable (StorageFault) -> Void]>([])
    /// True after a failed write to the disk.
    private let isStopped = Atomic(false)
    /// True if a read found damage, which the cache of the writing connection may contain.
    private let hasReadDamage = Atomic(false)
    /// The longest wait for other processes, in milliseconds.
    private static let busyTimeout: Int32 = 10_000

    /// Opens the file, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - features: All features.
    ///   - migrates: True if the storage may create tables and add columns.
    package init(file: URL, features: [LedgerFeature], migrates: Bool = true) throws(StorageFault) {
        path = file.path
        let tables = LedgerTables(features)
        self.tables = tables
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.busyMode = .timeout(Double(Self.busyTimeout) / 1000)
        configuration.journalMode = .wal
        // SQLite does not report the failure of an automatic checkpoint.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        readers = SQLiteReaders(path: file.path, configuration: configuration, tables: tables, log: log)
        lock = try LedgerLock(file, .shared)
        let log = log
        do {
            // The lock keeps two processes from creating the tables of a new file.
            writer = try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                try SQLiteSchema.checkVersion(of: file, tables.schema)
                let writer = try DatabaseQueue(path: file.path, configuration: configuration)
                try writer.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL. With NORMAL, a power failure may undo an answered write.
                    try database.execute(sql: "PRAGMA synchronous = FULL")
                    // A larger page cache, in KiB, for the one connection that writes.
                    try database.execute(sql: "PRAGMA cache_size = -16384")
                    try log.observe(database)
                }
                try writer.writeWithoutTransaction { database in
                    try database.inTransaction(.immediate) {
                        let cause = try SQLiteSchema.prepare(database, tables.schema, migrates: migrates)
                        if let cause { throw StorageFault(cause: cause, path: file.path) }
                        return .commit
                    }
                }
                // The checkpoint shows if the log of an earlier process cannot reach the disk. Then nothing is appended to it.
                do {
                    _ = try writer.writeWithoutTransaction { try $0.checkpoint(.passive) }
                } catch let error as DatabaseError where error.resultCode != .SQLITE_IOERR {
                    // Another process runs a checkpoint, or the disk is full. The ledger is usable in both cases.
                }
                return writer
            }
        } catch is PrivateFile.Failure {
            throw StorageFault(cause: .cannotOpen, path: file.path)
        } catch {
            throw StorageFault(error, path: file.path)
        }
    }

    deinit {
        readers.close()
    }

    package var dialect: SQLDialect { .sqlite }

    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.add(observer)
    }

    package func observeStop(_ observer: @escaping @Sendable (StorageFault) -> Void) {
        stopObservers.withLock { $0.append(observer) }
    }

    package var damaged: StorageFault { StorageFault(cause: .damaged, path: path) }

    package func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        do {
            try checkRunning()
            return try readers.read(extent, body)
        } catch {
            throw StorageFault.translated(error, path: path)
        }
    }

    package func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        guard let first = parts.first, parts.count == 1 else { return commitTogether(parts) }
        // A single part needs no savepoint.
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
            // A full disk ends the whole transaction, even if the part caught the error.
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
                // The part cannot be undone alone, so the whole group is rolled back.
                try? database.write("ROLLBACK", [])
                throw error
            }
            return StorageFault.translated(error, path: path)
        }
    }

    /// Runs `body` in one commit. It is durable when this returns, or left no trace.
    private func transaction<Value>(_ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let changed = ChangedUsers()
        defer { if hasReadDamage.exchange(false, ordering: .relaxed) { writer.releaseMemory() } }
        do {
            let value = try writer.writeWithoutTransaction {
                try commit({ try body(SQLiteDatabase(database: $0, tables: tables, changed: changed)) }, on: $0)
            }
            observers.notify(changed.numbers)
            checkpointIfDue()
            return value
        } catch {
            notice(error)
            throw StorageFault.translated(error, path: path)
        }
    }

    /// Commits `body`, and stops the ledger if the commit does not reach the disk.
    private func commit<Value>(_ body: (Database) throws -> Value, on database: Database) throws -> Value {
        try checkRunning()
        // GRDB's own `inTransaction` would prepare both statements again for each commit.
        do {
            try database.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
            do {
                let result = try body(database)
                // A full disk ends the whole transaction, even if the body caught the error.
                guard database.isInsideTransaction else { throw StorageFault(cause: .failed, path: path) }
                try database.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                return result
            } catch {
                // The first error tells the cause. If the transaction stays open all the same, the next BEGIN fails, and nothing is
                // committed.
                try? database.rollback()
                throw error
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_IOERR {
            notice(error)
            throw StorageFault(cause: .stopped, path: path)
        }
    }

    private func checkRunning() throws(StorageFault) {
        guard !isStopped.load(ordering: .sequentiallyConsistent) else {
            throw StorageFault(cause: .stopped, path: path)
        }
    }

    /// Moves the write-ahead log into the database after a number of pages.
    ///
    /// Commits are already on the disk, in the log. Pages that readers still use, or that a full disk refuses, stay in the log
    /// until the next checkpoint. An I/O error stops the ledger.
    private func checkpointIfDue() {
        guard log.isCheckpointDue() else { return }
        do {
            try writer.writeWithoutTransaction { try log.checkpoint($0, busyTimeout: Self.busyTimeout) }
        } catch {
            if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { stop() }
        }
    }

    /// Records the effect of an error on later requests: an I/O error stops the ledger, and damage clears the cache.
    private func notice(_ error: any Error) {
        switch (error as? DatabaseError)?.resultCode {
        case .SQLITE_IOERR?: stop()
        case .SQLITE_CORRUPT?, .SQLITE_NOTADB?: hasReadDamage.store(true, ordering: .relaxed)
        default: break
        }
    }

    private func stop() {
        guard !isStopped.exchange(true, ordering: .sequentiallyConsistent) else { return }
        for observer in stopObservers.withLock({ $0 }) { observer(StorageFault(cause: .stopped, path: path)) }
    }
}

extension StorageFault {
    /// The fault behind an error of a database.
    init(_ error: any Error, path: String) {
        switch error {
        case let fault as StorageFault: self = fault
        case is ColumnMismatch: self.init(cause: .damaged, path: path)
        case let error as DatabaseError: self.init(sqliteResultCode: error.resultCode.rawValue, path: path)
        case let failure as PostgreSQLFailure: self.init(cause: failure.cause, path: path, reason: failure.reason)
        default: self.init(cause: .failed, path: path)
        }
    }

    /// An error of a use case: the fault behind an error of the database, or the use case's own error.
    static func translated(_ error: any Error, path: String) -> any Error {
        error is DatabaseError || error is PostgreSQLFailure || error is ColumnMismatch
            ? StorageFault(error, path: path) : error
    }
}

/// The pool of the connections that read a ledger's file. It has one connection for each concurrent reader.
///
/// GRDB's own pool finds a connection by queues. That took longer than a query, made threads wait for each other and halved the
/// measured throughput.
final class SQLiteReaders: Sendable {
    private let path: String
    private let configuration: Configuration
    private let tables: LedgerTables
    private let log: WriteAheadLog
    private let idle = Mutex<[DatabaseQueue]>([])

    init(path: String, configuration: Configuration, tables: LedgerTables, log: WriteAheadLog) {
        self.path = path
        self.tables = tables
        self.log = log
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
    }

    func read<Value>(_ extent: ReadExtent, _ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let reader = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        // An error closes the connection, because its cache of the file may be damaged.
        let value = try reader.unsafeRead { database in
            switch extent {
            case .statement: try body(SQLiteDatabase(database: database, tables: tables))
            case .snapshot: try snapshot(of: database, body)
            case .longSnapshot:
                // The transaction itself ends in any case.
                try snapshot(of: database) { connection in try log.endable(database) { try body(connection) } }
            }
        }
        idle.withLock { $0.append(reader) }
        return value
    }

    /// Closes the connections. The writing connection must be the last to close, because it moves the write-ahead log into the
    /// database.
    func close() {
        idle.withLock { $0.removeAll() }
    }

    /// Runs `body` in a read transaction. GRDB's own `read` would prepare `BEGIN` and `COMMIT` again each time.
    private func snapshot<Value>(of database: Database, _ body: (SQLiteDatabase) throws -> Value) throws -> Value {
        let connection = SQLiteDatabase(database: database, tables: tables)
        try connection.write("BEGIN DEFERRED", [])
        do {
            let value = try body(connection)
            try connection.write("COMMIT", [])
            return value
        } catch {
            if database.isInsideTransaction { try? connection.write("ROLLBACK", []) }
            throw error
        }
    }
}
