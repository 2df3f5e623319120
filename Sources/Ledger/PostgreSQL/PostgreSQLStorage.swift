import Foundation
import Proofs
import Synchronization
import Vocabulary

/// The rows of a ledger in a PostgreSQL database, which several services may share.
///
/// The storage promises:
/// - A write is SERIALIZABLE, and is retried after a conflict.
/// - An answered write is durable, also on the standby if the server waits for one.
/// - A commit whose answer was lost is looked up before the caller gets an answer.
/// - After a shutdown, a failover or a lost connection, the storage connects again and retries the transactions that were not
///   committed.
package final class PostgreSQLStorage: LedgerStorage {
    let pool: PostgreSQLPool
    let tables: LedgerTables
    private let observers = ChangeObservers()
    /// The notifications between services; nil without observers.
    private let notifications = Mutex<PostgreSQLNotifications?>(nil)
    private let randomness: Randomness
    let address: PostgreSQLAddress
    private let absence: ServerAbsence
    package let replicas: PostgreSQLReplicas?
    private let commits = Atomic(0)
    private static let commitsPerSweep = 4096
    /// The time for which a transaction is retried after conflicts.
    static let retryTime = Duration.seconds(20)
    /// The number of conflicts after which a group is divided.
    private static let maximumGroupConflicts = 3
    private static let maximumKeyConflicts = 5

    /// Connects, and creates the tables if they do not exist.
    ///
    /// - Parameters:
    ///   - features: All features.
    ///   - randomness: A source of random bytes for the tokens of commits, and for pauses.
    ///   - migrates: True if the storage may create tables and add columns.
    package init(
        _ address: PostgreSQLAddress,
        features: [LedgerFeature],
        randomness: Randomness,
        migrates: Bool = true
    ) throws(StorageFault) {
        self.address = address
        tables = LedgerTables(features)
        self.randomness = randomness
        pool = PostgreSQLPool(address)
        absence = ServerAbsence(ofSeveralHosts: address.hasSeveralHosts)
        replicas = address.replicas.map { [tables] in PostgreSQLReplicas($0, tables) }
        do {
            let found = try pool.withConnection {
                try PostgreSQLSchema.prepare($0, tables.schema, migrates: migrates)
            }
            if let found { throw StorageFault(cause: found, path: address.description) }
            if migrates { sweep() }
        } catch {
            throw StorageFault(error, path: address.description)
        }
    }

    package var dialect: SQLDialect { .postgreSQL }

    /// Adds an observer. From the first observer on, the storage exchanges notifications with the other observing services.
    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.add(observer)
        notifications.withLock { notifications in
            notifications =
                notifications ?? PostgreSQLNotifications(pool: pool, address: address, observers: observers)
        }
    }

    package var damaged: StorageFault { StorageFault(cause: .damaged, path: address.description) }

    package func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        let start = ContinuousClock.now
        do {
            // An idle connection may have been lost unnoticed: the second attempt uses a new one.
            do {
                return try readOnce(extent, after: absence.recentBeginning, body)
            } catch let failure as PostgreSQLFailure where failure.isOfConnection {
                return try readOnce(extent, after: absence.recentBeginning ?? start, body)
            }
        } catch {
            if (error as? PostgreSQLFailure)?.isOfConnection ?? false { absence.begin(at: start) }
            throw StorageFault.translated(error, path: address.description)
        }
    }

    private func readOnce<Value>(
        _ extent: ReadExtent, after loss: ContinuousClock.Instant?, _ body: (any LedgerDatabase) throws -> Value
    ) throws -> Value {
        try pool.withConnection(after: loss) { connection in
            // Through a pooler, a statement by itself would lack the settings.
            let isTransaction = extent != .statement || connection.isPooled
            if isTransaction { connection.begin("REPEATABLE READ READ ONLY") }
            let value = try body(PostgreSQLDatabase(connection: connection, tables: tables))
            if isTransaction { try connection.endRead() }
            absence.end()
            return value
        }
    }

    package func mayReturn(after error: any Error) -> Bool {
        guard let fault = error as? StorageFault else { return false }
        return [.unreachable, .readOnly].contains(fault.cause) && absence.isShort
    }

    package var serverReachability: ServerReachability? { absence.reachability }

    package func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        commit(parts, until: .now + Self.retryTime)
    }

    /// Commits a group. After several conflicts, each half gets its own commit: a long transaction has more conflicts.
    private func commit(_ parts: [LedgerPart], until end: ContinuousClock.Instant) -> [(any Error)?] {
        var conflicts = 0
        do {
            let errors: [(any Error)?]? = try attempt(until: end) {
                guard conflicts < Self.maximumGroupConflicts || !parts.isDivisible else { return nil }
                do {
                    return try transaction { try perform(parts, on: $0) }
                } catch let failure as PostgreSQLFailure where failure.isRetryable {
                    if failure.isConflict { conflicts += 1 }
                    throw failure
                } catch {
                    guard parts.count == 1, parts.isDivisible else { throw error }
                    return nil
                }
            }
            if let errors { return errors }
        } catch {
            return parts.flatMap { Array(repeating: error, count: $0.count) }
        }
        let (first, second) = parts.halves
        return commit(first, until: end) + commit(second, until: end)
    }

    private func perform(_ parts: [LedgerPart], on connection: PostgreSQLConnection) throws -> [(any Error)?] {
        let database = PostgreSQLDatabase(connection: connection, tables: tables)
        guard let first = parts.first, parts.count == 1 else {
            return try parts.flatMap { part in try part.errors { try performInSavepoint($0, database) } }
        }
        try first.perform(database)
        return Array(repeating: nil, count: first.count)
    }

    /// - Returns: The error that undid the part.
    /// - Throws: The error that ended the whole transaction.
    private func performInSavepoint(_ part: LedgerPart, _ database: PostgreSQLDatabase) throws -> (any Error)? {
        let connection = database.connection
        do {
            connection.enqueue("SAVEPOINT part")
            try part.perform(database)
            try connection.flush()
            connection.enqueue("RELEASE part")
            return nil
        } catch {
            connection.rollBackToSavepoint("part")
            if let failure = error as? PostgreSQLFailure, failure.isRetryable { throw failure }
            return StorageFault.translated(error, path: address.description)
        }
    }

    /// Runs `body` in one SERIALIZABLE transaction. It is durable when this returns, or left no trace.
    private func transaction<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let token = randomness.bytes(16)
        let position = replicas.map { _ in LedgerPosition(token: token, at: SystemClock().now()) }
        let (value, changed, lost): (Value, Set<Int64>, PostgreSQLFailure?) = try pool.withConnection(
            after: absence.recentBeginning
        ) { connection in
            connection.begin("SERIALIZABLE")
            connection.position = position
            connection.changed.numbers.removeAll(keepingCapacity: true)
            let value = try body(connection)
            try connection.enqueue(SQLQuery("INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 1)", [token]))
            do throws(PostgreSQLFailure) { try connection.commit() } catch {
                guard error.isConnectionLost else { throw error }
                return (value, connection.changed.numbers, error)
            }
            return (value, connection.changed.numbers, nil)
        }
        if let lost, try !isCommitted(token) { throw lost }
        if let position { replicas?.note(position) }
        observers.notify(changed)
        notifications.withLock { $0 }?.notify(changed)
        if commits.add(1, ordering: .relaxed).newValue.isMultiple(of: Self.commitsPerSweep) { sweep() }
        return value
    }

    /// Retries a transaction after conflicts and lost connections. During a long absence of the server, it runs once.
    func attempt<Value>(until end: ContinuousClock.Instant, _ body: () throws -> Value) throws -> Value {
        var (conflicts, losses) = (0, 0)
        while true {
            let start = ContinuousClock.now
            do {
                let value = try body()
                absence.end()
                return value
            } catch let failure as PostgreSQLFailure where failure.isRetryable {
                if failure.isConflict { conflicts += 1 } else { losses += 1 }
                if failure.isOfConnection { absence.begin(at: start) }
                // A key that stays taken was not written by a concurrent transaction.
                let isPermanent =
                    (failure.isUniqueViolation || failure.isInternal) && conflicts > Self.maximumKeyConflicts
                let isTime = failure.isOfConnection ? absence.isShort : ContinuousClock.now < end
                guard !isPermanent, isTime else { throw StorageFault(failure, path: address.description) }
                pause(upTo: failure.isConflict ? 0.002 * Double(min(conflicts, 25)) : 0.05 * Double(min(losses, 10)))
            } catch {
                throw StorageFault.translated(error, path: address.description)
            }
        }
    }

    /// Sleeps for a random part of a time, so that two conflicting transactions do not conflict again.
    private func pause(upTo seconds: Double) {
        Thread.sleep(forTimeInterval: seconds * Double(randomness.bytes(1)[0]) / 255)
    }

    /// Looks up a commit whose answer was lost.
    ///
    /// The insertion of its token waits for a transaction that may still run on the server. If the insertion succeeds, the
    /// transaction was not committed and never will be. If the token exists, the statement writes nevertheless: its commit
    /// waits for the standby, which then has the earlier commit, too. PostgreSQL's own transaction numbers do not suffice,
    /// because another transaction may have the same number after a failover.
    func isCommitted(_ token: [UInt8]) throws -> Bool {
        try attempt(until: .now + Self.retryTime) {
            try pool.withConnection(after: absence.recentBeginning) { connection in
                connection.begin("READ COMMITTED")
                let isCommitted: Bool? = try connection.query(
                    SQLQuery(
                        """
                        INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 0)
                        ON CONFLICT (token) DO UPDATE SET is_committed = ledger_commit.is_committed RETURNING is_committed
                        """,
                        [token])
                ).firstValue()
                try connection.commit()
                guard let isCommitted else { throw damaged }
                return isCommitted
            }
        }
    }

    /// Deletes the tokens of old commits. A failure does no harm: a later sweep deletes them.
    func sweep() {
        try? pool.withConnection { connection in
            connection.begin("READ COMMITTED")
            connection.enqueue("DELETE FROM ledger_commit WHERE committed_at < now() - interval '1 day'")
            try connection.commit()
        }
    }
}
