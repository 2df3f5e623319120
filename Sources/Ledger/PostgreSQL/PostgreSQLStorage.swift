import Commerce
import Foundation
import Signatures
import Synchronization

/// The rows of a ledger in a PostgreSQL database, which several services may share.
///
/// Promises: a write is SERIALIZABLE, and is run again where it met another; what is told to be written is durable, on the
/// standby too where the server waits for one; a commit whose answer was lost is looked up before anybody is told anything; a
/// server that shuts down, fails over or loses the line is connected to anew, and what was under way there is run again, since
/// nothing of it was committed.
package final class PostgreSQLStorage: LedgerStorage {
    let pool: PostgreSQLPool
    private let tables: LedgerTables
    private let observers = ChangeObservers()
    /// nil while nobody observes.
    private let announcements = Mutex<PostgreSQLAnnouncements?>(nil)
    private let randomness: Randomness
    private let address: PostgreSQLAddress
    private let absence = ServerAbsence()
    /// Commits since old tokens were taken out.
    private let commits = Atomic(0)
    private static let commitsPerSweep = 4096
    /// The time for which a transaction is run again after conflicts.
    static let patience = Duration.seconds(20)
    /// After how many a group is parted.
    private static let conflictsOfGroup = 3
    private static let attemptsOfKey = 5

    /// Connects, and makes the tables when there are none.
    ///
    /// - Parameters:
    ///   - features: All features there are.
    ///   - randomness: Chance for the tokens of commits, and for pauses.
    ///   - takesOver: Whether a ledger of an earlier version becomes one of this, and tables are made.
    /// - Throws: `StorageFault`.
    package init(
        _ address: PostgreSQLAddress,
        features: [LedgerFeature],
        randomness: Randomness,
        takesOver: Bool = true
    ) throws(StorageFault) {
        self.address = address
        tables = LedgerTables(LedgerSchema(features))
        self.randomness = randomness
        pool = PostgreSQLPool(address)
        do {
            let found = try pool.withConnection {
                try PostgreSQLSchema.prepare($0, tables.schema, takesOver: takesOver)
            }
            if let found { throw StorageFault(cause: found, path: address.description) }
            if takesOver { sweep() }
        } catch {
            throw fault(error)
        }
    }

    package var dialect: SQLDialect { .postgreSQL }

    package var prefersInlineReads: Bool { false }

    /// Whoever observes also tells the other services that do, and is told by them.
    package func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {
        observers.add(observer)
        announcements.withLock { announcements in
            announcements =
                announcements ?? PostgreSQLAnnouncements(pool: pool, address: address, observers: observers)
        }
    }

    package var damaged: StorageFault { StorageFault(cause: .damaged, path: address.description) }

    package func read<Value>(
        _ extent: ReadExtent,
        _ body: (any LedgerDatabase) throws -> Value
    ) throws -> Value {
        do {
            // A kept connection may have been lost unnoticed: the second attempt has a new one.
            do { return try readOnce(extent, body) } catch let failure as PostgreSQLFailure where failure.isOfConnection
            {
                return try readOnce(extent, body)
            }
        } catch {
            if (error as? PostgreSQLFailure)?.isOfConnection ?? false { absence.begin() }
            throw translated(error)
        }
    }

    private func readOnce<Value>(
        _ extent: ReadExtent,
        _ body: (any LedgerDatabase) throws -> Value
    ) throws -> Value {
        try pool.withConnection { connection in
            if extent != .statement { connection.runLater("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") }
            let value = try body(PostgreSQLDatabase(connection: connection, tables: tables))
            if extent != .statement { try connection.endRead() }
            absence.end()
            return value
        }
    }

    package func mayReturn(after error: any Error) -> Bool {
        guard let fault = error as? StorageFault else { return false }
        return [.unreachable, .readOnly].contains(fault.cause) && absence.isShort
    }

    package func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        commit(parts, until: .now + Self.patience)
    }

    /// After several conflicts, each half of a group has a commit of its own: a long transaction meets more conflicts.
    private func commit(_ parts: [LedgerPart], until end: ContinuousClock.Instant) -> [(any Error)?] {
        var conflicts = 0
        do {
            let errors: [(any Error)?]? = try attempt(until: end) {
                guard conflicts < Self.conflictsOfGroup || !parts.isDivisible else { return nil }
                do {
                    return try transaction { try perform(parts, on: $0) }
                } catch let failure as PostgreSQLFailure where failure.isWorthAnother {
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
            connection.runLater("SAVEPOINT part")
            try part.perform(database)
            try connection.flush()
            connection.runLater("RELEASE part")
            return nil
        } catch {
            connection.rollBackToSavepoint("part")
            if let failure = error as? PostgreSQLFailure, failure.isWorthAnother { throw failure }
            return translated(error)
        }
    }

    /// One SERIALIZABLE transaction, which is durable when this returns, or nothing.
    private func transaction<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let token = randomness.bytes(16)
        let (value, changed, lost): (Value, Set<Int64>, PostgreSQLFailure?) = try pool.withConnection { connection in
            connection.runLater("BEGIN ISOLATION LEVEL SERIALIZABLE")
            connection.changed.removeAll()
            let value = try body(connection)
            try connection.queryLater(
                SQLQuery("INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 1)", [token]))
            do throws(PostgreSQLFailure) { try connection.commit() } catch {
                guard error.isLineLost else { throw error }
                return (value, connection.changed.numbers, error)
            }
            return (value, connection.changed.numbers, nil)
        }
        if let lost, try !isCommitted(token) { throw lost }
        observers.tell(changed)
        announcements.withLock { $0 }?.announce(changed)
        if commits.add(1, ordering: .relaxed).newValue.isMultiple(of: Self.commitsPerSweep) { sweep() }
        return value
    }

    /// Runs a transaction until it meets no conflict and keeps its connection. If the server is away for long, each tries once.
    func attempt<Value>(
        until end: ContinuousClock.Instant,
        _ body: () throws -> Value
    ) throws -> Value {
        var (conflicts, losses) = (0, 0)
        while true {
            do {
                let value = try body()
                absence.end()
                return value
            } catch let failure as PostgreSQLFailure where failure.isWorthAnother {
                if failure.isConflict { conflicts += 1 } else { losses += 1 }
                if failure.isOfConnection { absence.begin() }
                // A key that stays taken is no other's of this moment.
                let isHopeless = (failure.isOfKey || failure.isInternal) && conflicts > Self.attemptsOfKey
                let isTime = failure.isOfConnection ? absence.isShort : ContinuousClock.now < end
                guard !isHopeless, isTime else { throw fault(failure) }
                pause(upTo: failure.isConflict ? 0.002 * Double(min(conflicts, 25)) : 0.05 * Double(min(losses, 10)))
            } catch {
                throw translated(error)
            }
        }
    }

    /// A part of some seconds, by chance: two that met would meet again.
    private func pause(upTo seconds: Double) {
        Thread.sleep(forTimeInterval: seconds * Double(randomness.bytes(1)[0]) / 255)
    }

    /// An error of a use case: the fault behind an error of the database, or the use case's own error.
    private func translated(_ error: any Error) -> any Error {
        error is PostgreSQLFailure || error is SQLRow.Mismatch ? fault(error) : error
    }

    private func fault(_ error: any Error) -> StorageFault {
        if let fault = error as? StorageFault { return fault }
        if error is SQLRow.Mismatch { return damaged }
        guard let failure = error as? PostgreSQLFailure else {
            return StorageFault(cause: .failed, path: address.description)
        }
        return StorageFault(cause: failure.cause, path: address.description)
    }
}
