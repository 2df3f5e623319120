import Commerce
import Foundation
import GRDB
import Signatures
import Synchronization

/// The rows of a ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL: what was answered survives a crash
/// of the process and of the machine. Several processes may open it at once.
///
/// Promises: what reads never waits for what writes; use cases that run together share one commit; once the disk has failed
/// to take what was written, this object answers nothing any more (`storageStopped`), since the system may have forgotten
/// what did not reach it, and trying again would tell of a success that is none.
package final class SQLiteStorage: LedgerStorage {
    private let writer: DatabaseQueue
    private let readers: SQLiteReaders
    /// Keeps the file in its place until it is closed.
    private let lock: LedgerLock
    private let path: String
    private let observers = ChangeObservers()
    /// Whether the disk has failed to take what was written.
    private let isStopped = Atomic(false)
    /// Whether something of the file was read that cannot be: the connection that writes may remember it.
    private let hasReadDamage = Atomic(false)
    /// Use cases since what they wrote was last moved from the write-ahead log into the database.
    private let useCasesSinceCheckpoint = Atomic(0)
    private static let useCasesPerCheckpoint = 256

    /// The transaction that the use cases of a group share.
    @TaskLocal private static var group: Group?

    /// What the task-local value has to be `Sendable` for never happens: it is bound inside one synchronous call that holds the
    /// database, and the use cases run in that call, on its thread; nothing they could start outlives the binding with it.
    private final class Group: @unchecked Sendable {
        let storage: SQLiteStorage
        let database: Database
        let changed: ChangedUsers
        /// The last that a use case has met.
        var fault: StorageFault?

        init(storage: SQLiteStorage, database: Database, changed: ChangedUsers) {
            self.storage = storage
            self.database = database
            self.changed = changed
        }
    }

    /// Opens the file, making it when there is none.
    ///
    /// - Parameters:
    ///   - randomness: Chance for the account tokens of users.
    ///   - takesOver: Whether one of an earlier version becomes one of this; a service of that version may be running on it.
    /// - Throws: `StorageFault`.
    package init(file: URL, randomness: Randomness, takesOver: Bool = true) throws(StorageFault) {
        path = file.path
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        // SQLite would tell nobody that a checkpoint of its own has failed.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        readers = SQLiteReaders(path: file.path, configuration: configuration)
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
                let migrator = LedgerSchema(randomness: randomness).migrator
                guard try writer.read({ try !migrator.hasBeenSuperseded($0) }) else {
                    throw StorageFault(cause: .newerVersion, path: file.path)
                }
                guard try takesOver || writer.read({ try migrator.hasCompletedMigrations($0) }) else {
                    throw StorageFault(cause: .olderVersion, path: file.path)
                }
                try migrator.migrate(writer)
                // What a process before has left in the log may have failed to reach the disk: nothing is added behind it.
                do {
                    _ = try writer.writeWithoutTransaction { try $0.checkpoint(.passive) }
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

    package func together(_ useCases: [() -> Void]) -> [StorageFault?] {
        do {
            try commit(useCases)
            return useCases.map { _ in nil }
        } catch {
            return useCases.map { _ in error }
        }
    }

    private func commit(_ useCases: [() -> Void]) throws(StorageFault) {
        useCasesSinceCheckpoint.add(useCases.count, ordering: .relaxed)
        try transaction { database, changed in
            let group = Group(storage: self, database: database, changed: changed)
            try Self.$group.withValue(group) {
                for useCase in useCases {
                    useCase()
                    try checkRunning()
                    // A full disk ends the whole transaction, whatever the use case has made of it.
                    guard database.isInsideTransaction else {
                        throw group.fault ?? StorageFault(cause: .failed, path: path)
                    }
                }
            }
        }
    }

    package var answersAtOnce: Bool { true }

    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.add(observer)
    }

    package var damaged: StorageFault { StorageFault(cause: .damaged, path: path) }

    package func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        do {
            if let group = Self.group, group.storage === self {
                do { return try body(SQLiteDatabase(database: group.database)) } catch {
                    notice(error)
                    throw error
                }
            }
            try checkRunning()
            return try readers.read(body)
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    package func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        do {
            if let group = Self.group, group.storage === self { return try Self.part(of: group, body) }
        } catch {
            throw Self.fault(error, path: path)
        }
        return try transaction { try body(SQLiteDatabase(database: $0, changed: $1)) }
    }

    /// All of `body` in one commit, or nothing.
    private func transaction<Value>(
        _ body: (Database, ChangedUsers) throws -> Value
    ) throws(StorageFault) -> Value {
        let changed = ChangedUsers()
        defer { if hasReadDamage.exchange(false, ordering: .relaxed) { writer.releaseMemory() } }
        do {
            let value = try writer.writeWithoutTransaction { try commit({ try body($0, changed) }, on: $0) }
            observers.tell(changed.numbers)
            checkpointSometimes()
            return value
        } catch {
            notice(error)
            throw Self.fault(error, path: path)
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

    /// A part of a group's transaction: all of `body`, or nothing.
    private static func part<Value>(
        of group: Group,
        _ body: (any LedgerDatabase) throws -> Value
    ) throws -> Value {
        let connection = SQLiteDatabase(database: group.database, changed: group.changed)
        // A savepoint outside of a transaction would be one of its own.
        guard group.database.isInsideTransaction else {
            throw group.fault ?? StorageFault(cause: .failed, path: group.storage.path)
        }
        do {
            try connection.write("SAVEPOINT use_case", [])
            let value = try body(connection)
            try connection.write("RELEASE use_case", [])
            return value
        } catch {
            group.storage.notice(error)
            group.fault = fault(error, path: group.storage.path)
            // SQLite may have ended the whole transaction, savepoints and all.
            guard group.database.isInsideTransaction else { throw error }
            do {
                try connection.write("ROLLBACK TO use_case", [])
                try connection.write("RELEASE use_case", [])
            } catch {
                // Nothing of a use case is kept by halves: then nothing of the group is.
                try? connection.write("ROLLBACK", [])
            }
            throw error
        }
    }

    private func checkRunning() throws(StorageFault) {
        guard !isStopped.load(ordering: .sequentiallyConsistent) else {
            throw StorageFault(cause: .stopped, path: path)
        }
    }

    /// What was committed is on the disk already, in the log. What others still read stays there until the next time, and so
    /// does what there is no space for; only a disk that fails ends it all, for whoever comes next.
    private func checkpointSometimes() {
        guard useCasesSinceCheckpoint.add(1, ordering: .relaxed).newValue > Self.useCasesPerCheckpoint else { return }
        useCasesSinceCheckpoint.store(0, ordering: .relaxed)
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

    static func fault(_ error: any Error, path: String) -> StorageFault {
        if let fault = error as? StorageFault { return fault }
        if error is SQLRow.Mismatch { return StorageFault(cause: .damaged, path: path) }
        guard let error = error as? DatabaseError else { return StorageFault(cause: .failed, path: path) }
        return StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path)
    }
}
