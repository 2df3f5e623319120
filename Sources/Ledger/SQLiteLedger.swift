import Commerce
import Foundation
import GRDB
import Signatures
import Synchronization

/// The ledger in one SQLite file, mode 0600, in WAL mode with `synchronous` FULL: what was answered survives a crash of
/// the process and of the machine. Several processes may open it at once.
///
/// Promises: what reads never waits for what writes; use cases that run together share one commit; once the disk has failed
/// to take what was written, this object answers nothing any more (`storageStopped`), since the system may have forgotten
/// what did not reach it, and trying again would tell of a success that is none.
public final class SQLiteLedger: Ledger {
    private let pool: DatabasePool
    let path: String
    private let randomness: Randomness
    /// Whether the disk has failed to take what was written.
    private let isStopped = Atomic(false)
    /// Use cases since what they wrote was last moved from the write-ahead log into the database.
    private let useCasesSinceCheckpoint = Atomic(0)
    private static let useCasesPerCheckpoint = 256

    /// The transaction that the use cases of a group share.
    @TaskLocal private static var group: Group?

    /// What the task-local value has to be `Sendable` for never happens: it is bound inside one synchronous call that holds the
    /// database, and the use cases run in that call, on its thread; nothing they could start outlives the binding with it.
    private final class Group: @unchecked Sendable {
        let ledger: SQLiteLedger
        let database: Database
        /// The last that a use case has met.
        var fault: StorageFault?

        init(ledger: SQLiteLedger, database: Database) {
            self.ledger = ledger
            self.database = database
        }
    }

    /// Opens the ledger, making it when there is none.
    ///
    /// - Parameter randomness: Chance for the account tokens of users.
    /// - Throws: `StorageFault`.
    public init(file: URL, randomness: Randomness = .system) throws(StorageFault) {
        path = file.path
        self.randomness = randomness
        var configuration = Configuration()
        configuration.label = "ledger"
        configuration.busyMode = .timeout(10)
        // SQLite would tell nobody that a checkpoint of its own has failed.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0") }
        do {
            // One at a time: two that found a new file would both make its tables.
            pool = try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                let pool = try DatabasePool(path: file.path, configuration: configuration)
                try pool.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL, under which a power cut may take back what was answered.
                    try database.execute(sql: "PRAGMA synchronous = FULL")
                }
                let migrator = LedgerSchema(randomness: randomness).migrator
                guard try pool.read({ try !migrator.hasBeenSuperseded($0) }) else {
                    throw StorageFault(cause: .newerVersion, path: file.path)
                }
                try migrator.migrate(pool)
                // What a process before has left in the log may have failed to reach the disk: nothing is added behind it.
                do {
                    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
                } catch let error as DatabaseError where error.resultCode != .SQLITE_IOERR {
                    // Another process is at it, or there is no space: neither keeps anybody from the ledger.
                }
                return pool
            }
        } catch is PrivateFile.Failure {
            throw StorageFault(cause: .cannotOpen, path: file.path)
        } catch {
            throw Self.fault(error, path: file.path)
        }
    }

    public func redeem(_ claims: [Claim], for user: User, at moment: Timestamp) throws(StorageFault) -> LedgerAnswer {
        try write { database in
            let users = users(database)
            let records = LedgerRecords(database: database, users: users)
            let user = try users.identifier(of: user, at: moment)
            let results = try claims.map { try records.record($0, for: user, at: moment) }
            return LedgerAnswer(results: results, items: try records.items(of: user, at: moment))
        }
    }

    public func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try write { database in
            let users = users(database)
            return try LedgerRecords(database: database, users: users).record(notification, stating: claim, at: moment)
        }
    }

    public func record(_ claim: Claim, at moment: Timestamp) throws(StorageFault) -> NotificationOutcome {
        try write { database in
            let users = users(database)
            return try LedgerRecords(database: database, users: users).record(stating: claim, at: moment)
        }
    }

    public func items(of user: User, at moment: Timestamp) throws(StorageFault) -> [Item] {
        try read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try LedgerRecords(database: database, users: users).items(of: user, at: moment)
        }
    }

    public func transactions(
        of user: User,
        before sequence: Int64?,
        limit: Int
    ) throws(StorageFault) -> [RedeemedTransaction] {
        try read { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            return try LedgerRecords(database: database, users: users)
                .transactions(of: user, before: sequence ?? .max, limit: limit)
        }
    }

    public func appAccountToken(of user: User, at moment: Timestamp) throws(StorageFault) -> UUID {
        let settled: UUID? = try read { database in
            let users = users(database)
            guard let known = try users.known(user), try users.isAppAccountTokenSettled(of: known) else { return nil }
            return try users.appAccountToken(of: known)
        }
        if let settled { return settled }
        return try write { database in
            let users = users(database)
            let identifier = try users.identifier(of: user, at: moment)
            guard let token = try users.appAccountToken(of: identifier) else { throw damaged }
            if try !users.isAppAccountTokenSettled(of: identifier) { try users.settleAppAccountToken(of: identifier) }
            return token
        }
    }

    public func setAppAccountToken(
        _ token: UUID,
        of user: User,
        at moment: Timestamp
    ) throws(StorageFault) -> AppAccountTokenAnswer {
        try write { database in
            let users = users(database)
            let known = try users.known(user)
            if let known, let present = try users.appAccountToken(of: known), present != token,
                try users.isAppAccountTokenSettled(of: known)
            {
                return .hasAnother(present)
            }
            if let owner = try users.owner(of: token), owner != known { return .ofAnotherUser }
            try users.settleAppAccountToken(token, of: try users.identifier(of: user, at: moment))
            return .set
        }
    }

    public func together(_ useCases: [() -> Void]) throws(StorageFault) {
        useCasesSinceCheckpoint.add(useCases.count, ordering: .relaxed)
        try write { database in
            let group = Group(ledger: self, database: database)
            try Self.$group.withValue(group) {
                for useCase in useCases {
                    useCase()
                    // A full disk ends the whole transaction, whatever the use case has made of it.
                    guard database.isInsideTransaction else {
                        throw group.fault ?? StorageFault(cause: .failed, path: path)
                    }
                }
            }
        }
    }

    func users(_ database: Database) -> UserRecords {
        UserRecords(database: database, randomness: randomness)
    }

    /// What has just been written is not there.
    var damaged: StorageFault { StorageFault(cause: .damaged, path: path) }

    func read<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
        do {
            if let group = Self.group, group.ledger === self { return try body(group.database) }
            try checkRunning()
            return try pool.read(body)
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    /// All of `body` in one commit, or nothing; in a group, all of it with the group's commit, or nothing.
    func write<Value>(_ body: (Database) throws -> Value) throws(StorageFault) -> Value {
        do {
            if let group = Self.group, group.ledger === self { return try Self.write(in: group, body) }
            let value = try pool.writeWithoutTransaction { try commit(body, on: $0) }
            checkpointSometimes()
            return value
        } catch {
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
            stop()
            throw StorageFault(cause: .stopped, path: path)
        }
        guard let result else { throw StorageFault(cause: .failed, path: path) }
        return result
    }

    private static func write<Value>(in group: Group, _ body: (Database) throws -> Value) throws -> Value {
        var result: Result<Value, any Error>?
        do {
            try group.database.inSavepoint {
                let value = try body(group.database)
                result = .success(value)
                return .commit
            }
        } catch {
            group.fault = fault(error, path: group.ledger.path)
            throw error
        }
        guard let result else { throw StorageFault(cause: .failed, path: group.ledger.path) }
        return try result.get()
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
            _ = try pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
        } catch {
            if (error as? DatabaseError)?.resultCode == .SQLITE_IOERR { stop() }
        }
    }

    private func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
    }

    static func fault(_ error: any Error, path: String) -> StorageFault {
        if let fault = error as? StorageFault { return fault }
        guard let error = error as? DatabaseError else { return StorageFault(cause: .failed, path: path) }
        return StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path)
    }
}
