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
public final class PostgreSQLStorage: LedgerStorage {
    private let pool: PostgreSQLPool
    private let randomness: Randomness
    private let address: PostgreSQLAddress
    /// Commits since old tokens were taken out.
    private let commits = Atomic(0)
    private static let commitsPerSweep = 4096
    /// For how long a transaction is run again, and a commit is looked up: a fail-over takes seconds.
    private static let patience = Duration.seconds(20)
    /// After how many a group is parted.
    private static let attemptsOfGroup = 3
    private static let attemptsOfKey = 5

    /// The transaction that the use cases of a group share.
    @TaskLocal private static var group: Group?

    /// As with `SQLiteStorage`: bound inside one synchronous call that holds the connection, on the thread of that call; nothing
    /// outlives the binding with it.
    private final class Group: @unchecked Sendable {
        let storage: PostgreSQLStorage
        let connection: PostgreSQLConnection
        /// What has ended the whole transaction.
        var end: PostgreSQLFailure?

        init(storage: PostgreSQLStorage, connection: PostgreSQLConnection) {
            self.storage = storage
            self.connection = connection
        }
    }

    /// Connects, and makes the tables when there are none.
    ///
    /// - Parameters:
    ///   - randomness: Chance for the tokens of commits, and for pauses.
    ///   - takesOver: Whether a ledger of an earlier version becomes one of this, and tables are made.
    /// - Throws: `StorageFault`.
    public init(_ address: PostgreSQLAddress, randomness: Randomness, takesOver: Bool = true) throws(StorageFault) {
        self.address = address
        self.randomness = randomness
        pool = PostgreSQLPool(address)
        do {
            let found = try pool.withConnection { try PostgreSQLSchema.prepare($0, takesOver: takesOver) }
            if let found { throw StorageFault(cause: found, path: address.description) }
        } catch {
            throw fault(error)
        }
    }

    public var damaged: StorageFault { StorageFault(cause: .damaged, path: address.description) }

    public func read<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        if let group = Self.group, group.storage === self {
            // Nothing goes on in a transaction in which reading has failed.
            return try part(of: group, isEndedBy: { _ in true }) { try body(PostgreSQLDatabase(connection: $0)) }
        }
        return try attempt {
            try pool.withConnection { connection in
                connection.runLater("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                let value = try body(PostgreSQLDatabase(connection: connection))
                try connection.commit()
                return value
            }
        }
    }

    public func write<Value>(_ body: (any LedgerDatabase) throws -> Value) throws(StorageFault) -> Value {
        guard let group = Self.group, group.storage === self else {
            return try attempt { try transaction { try body(PostgreSQLDatabase(connection: $0)) } }
        }
        return try part(of: group, isEndedBy: { $0.isWorthAnother || $0.isLate }) { connection in
            connection.runLater("SAVEPOINT use_case")
            do {
                let value = try body(PostgreSQLDatabase(connection: connection))
                connection.runLater("RELEASE use_case")
                return value
            } catch {
                connection.rollBackToSavepoint("use_case")
                throw error
            }
        }
    }

    /// Where others are met again and again, each half has a commit of its own.
    public func together(_ useCases: [() -> Void]) throws(StorageFault) {
        var attempts = 0
        let isDone = try attempt {
            attempts += 1
            guard attempts <= Self.attemptsOfGroup || useCases.count == 1 else { return false }
            do {
                try transaction { connection in
                    let group = Group(storage: self, connection: connection)
                    try Self.$group.withValue(group) {
                        for useCase in useCases {
                            useCase()
                            if let end = group.end { throw end }
                        }
                    }
                }
                return true
            } catch let failure as PostgreSQLFailure
                where failure.isLate && !failure.isWorthAnother && useCases.count > 1
            {
                // Whose it was shows when each is alone.
                return false
            }
        }
        guard !isDone else { return }
        let middle = useCases.count / 2
        try together(Array(useCases[..<middle]))
        try together(Array(useCases[middle...]))
    }

    /// A part of a group's transaction.
    ///
    /// - Parameter isEndedBy: Whether a failure ends all of it.
    private func part<Value>(
        of group: Group,
        isEndedBy: (PostgreSQLFailure) -> Bool,
        _ body: (PostgreSQLConnection) throws -> Value
    ) throws(StorageFault) -> Value {
        do {
            if let end = group.end { throw end }
            return try body(group.connection)
        } catch {
            if let failure = error as? PostgreSQLFailure, isEndedBy(failure) { group.end = failure }
            throw fault(error)
        }
    }

    /// One SERIALIZABLE transaction, which is durable when this returns, or nothing.
    private func transaction<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let token = randomness.bytes(16)
        let (value, lost): (Value, PostgreSQLFailure?) = try pool.withConnection { connection in
            connection.runLater("BEGIN")
            let value = try body(connection)
            try connection.queryLater(
                SQLQuery("INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 1)", [token]))
            do throws(PostgreSQLFailure) { try connection.commit() } catch {
                guard error.isOfConnection else { throw error }
                return (value, error)
            }
            return (value, nil)
        }
        if let lost, try !isCommitted(token) { throw lost }
        sweepSometimes()
        return value
    }

    /// Looks up a commit whose answer was lost.
    ///
    /// Writing its token waits for what may be left of it on the server. Where that succeeds it was not committed, and never
    /// will be. A number that the server gives its transactions would not do: after a fail-over another may have it.
    private func isCommitted(_ token: [UInt8]) throws -> Bool {
        try attempt {
            try pool.withConnection { connection in
                connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
                try connection.queryLater(
                    SQLQuery(
                        "INSERT INTO ledger_commit (token, is_committed) VALUES ($1, 0) ON CONFLICT DO NOTHING", [token]
                    ))
                let row = try connection.query(
                    SQLQuery("SELECT is_committed FROM ledger_commit WHERE token = $1", [token])
                ).rows.first
                try connection.commit()
                guard let row else { throw damaged }
                return try row["is_committed"]
            }
        }
    }

    /// Runs what may meet others, or lose its connection, until it does not.
    private func attempt<Value>(_ body: () throws -> Value) throws(StorageFault) -> Value {
        let end = ContinuousClock.now + Self.patience
        var (conflicts, losses) = (0, 0)
        while true {
            do {
                return try body()
            } catch let failure as PostgreSQLFailure where failure.isWorthAnother {
                if failure.isConflict { conflicts += 1 } else { losses += 1 }
                // A key that stays taken is no other's of this moment.
                let isHopeless = failure.isOfKey && conflicts > Self.attemptsOfKey
                guard !isHopeless, ContinuousClock.now < end else { throw fault(failure) }
                pause(upTo: failure.isConflict ? 0.002 * Double(min(conflicts, 25)) : 0.05 * Double(min(losses, 10)))
            } catch {
                throw fault(error)
            }
        }
    }

    /// A part of some seconds, by chance: two that met would meet again.
    private func pause(upTo seconds: Double) {
        Thread.sleep(forTimeInterval: seconds * Double(randomness.bytes(1)[0]) / 255)
    }

    /// A token is looked for within seconds of its commit. What goes wrong here does no harm, and is tried again.
    private func sweepSometimes() {
        guard commits.add(1, ordering: .relaxed).newValue.isMultiple(of: Self.commitsPerSweep) else { return }
        try? pool.withConnection { connection in
            connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
            connection.runLater("DELETE FROM ledger_commit WHERE committed_at < now() - interval '1 hour'")
            try connection.commit()
        }
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

extension PostgreSQLFailure {
    /// What an operator has to know of it.
    var cause: StorageFault.Cause {
        if isConflict || state == "53300" { return .busy }
        switch state {
        case "25006": return .readOnly
        case "53100": return .diskFull
        case "XX001", "XX002", "42P01", "42703": return .damaged
        case "42501": return .cannotOpen
        default: return isOfConnection ? .unreachable : .failed
        }
    }
}
