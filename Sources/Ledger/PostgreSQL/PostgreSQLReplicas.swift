import Dispatch
import Proofs
import Synchronization

/// The standbys of a ledger, which answer reads after a position that they have proved to have.
///
/// A standby that cannot be used costs a read nothing: connections are opened on a thread of their own, and a read without an idle one
/// goes to the primary. So does a read that the standby refuses, whatever the reason.
package final class PostgreSQLReplicas: Sendable {
    /// The pause after a standby was lost.
    private static let pause = Duration.seconds(5)
    /// The pause after a standby was behind. It keeps its connections: perhaps nothing has been written, and the next commit comes soon.
    private static let shortPause = Duration.milliseconds(100)

    /// The largest number of connections. If a standby hangs, as many reads wait for it, and the other threads go on.
    private static let maximumConnections = 8

    private let address: PostgreSQLAddress
    private let tables: LedgerTables
    private let opener = DispatchQueue(label: "till.replicas")
    private let shared = Mutex(Shared())

    /// The connection itself is not Sendable. It is safe to pass it between threads here, because one thread at a time has it: a read
    /// takes it out of `idle` before its use, and puts it back afterwards if it is whole, both under the lock of `shared`.
    private struct Pooled: @unchecked Sendable {
        let connection: PostgreSQLConnection
    }

    private struct Shared {
        var idle: [Pooled] = []
        /// The number of open connections, idle or not.
        var count = 0
        var isOpening = true
        var pausesUntil = ContinuousClock.now
        var position: LedgerPosition?
        var state = ReplicaState()
        var observers: [@Sendable (ReplicaState) -> Void] = []
    }

    init(_ address: PostgreSQLAddress, _ tables: LedgerTables) {
        self.address = address
        self.tables = tables
        open()
    }

    /// The last commit of this service; nil before the first. Its commits follow each other (`GroupCommits`).
    package var position: LedgerPosition? { shared.withLock(\.position) }

    package var state: ReplicaState { shared.withLock(\.state) }

    /// Adds an observer, which receives the state now and when a standby is lost or comes back.
    package func observe(_ observer: @escaping @Sendable (ReplicaState) -> Void) {
        let state = shared.withLock { shared in
            shared.observers.append(observer)
            return shared.state
        }
        if state.isUp != nil { observer(state) }
    }

    /// Notes a commit of this service.
    func note(_ position: LedgerPosition) { shared.withLock { $0.position = position } }

    /// Reads from a standby.
    ///
    /// - Returns: Nil if no standby has the position, or the read fails there. The primary has to answer.
    func read<Value>(
        _ extent: ReadExtent, after position: LedgerPosition, _ body: (any LedgerDatabase) throws -> Value
    ) -> Value? {
        let value = take().flatMap { read(extent, after: position, from: $0.connection, body) }
        shared.withLock { shared in
            if value == nil { shared.state.passedOn += 1 } else { shared.state.answered += 1 }
        }
        return value
    }

    private func read<Value>(
        _ extent: ReadExtent, after position: LedgerPosition, from connection: PostgreSQLConnection,
        _ body: (any LedgerDatabase) throws -> Value
    ) -> Value? {
        connection.foundTables = nil
        do {
            if extent != .statement { connection.begin("REPEATABLE READ READ ONLY") }
            // The first statement: its snapshot is that of the transaction, or an earlier one than those of the others.
            connection.require(SQLQuery(Self.proof, [position.token]))
            let value = try body(PostgreSQLDatabase(connection: connection, tables: tables))
            try connection.flush()
            if extent != .statement { try connection.endRead() }
            release(connection, reason: nil)
            return value
        } catch {
            if connection.state == .inTransaction { try? connection.rollBack() }
            release(connection, reason: (error as? PostgreSQLFailure)?.reasonOfStandby)
            return nil
        }
    }

    /// Null if a standby follows, otherwise the reason why it may not answer.
    private static let health = "SELECT CASE \(follows) END"

    /// Null if it also shows a commit, and lacks no commit that is older than ten seconds; an empty text if it does not show the commit.
    ///
    /// Only the time of the last replayed commit, by the primary's clock, bounds what a standby lacks. That it has replayed all that it
    /// has received says nothing if it follows another standby, or a former primary. So the primary answers while nothing is written.
    private static let proof = """
        SELECT CASE \(follows)
            WHEN coalesce(pg_last_xact_replay_timestamp() < clock_timestamp() - interval '10 s', true) THEN '\(behind)'
            WHEN NOT EXISTS (SELECT FROM ledger_commit WHERE token = $1 AND is_committed = 1) THEN '' END
        """

    private static let follows = """
        WHEN NOT pg_is_in_recovery() THEN 'it is no standby'
            WHEN NOT EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 'it does not follow the primary'
        """

    private static let behind = "it has replayed no commit of the last ten seconds"

    private func take() -> Pooled? {
        let (pooled, opens) = shared.withLock { shared -> (Pooled?, Bool) in
            guard ContinuousClock.now >= shared.pausesUntil else { return (nil, false) }
            if let pooled = shared.idle.popLast() { return (pooled, false) }
            guard !shared.isOpening, shared.count < Self.maximumConnections else { return (nil, false) }
            shared.isOpening = true
            return (nil, true)
        }
        if opens { open() }
        return pooled
    }

    /// Takes a connection back after its use.
    ///
    /// - Parameter reason: The reason why its server is left alone for a while; nil or empty for none.
    private func release(_ connection: PostgreSQLConnection, reason: String?) {
        let isUsable = connection.state == .idle
        let isBehind = reason == Self.behind
        // A missing token has an empty reason, and is usual: the commit has just been made.
        let stated = reason.flatMap { $0.isEmpty || isBehind ? nil : $0 }
        let problem = stated ?? (isUsable ? nil : "the connection was lost")
        // Named before another thread has the connection.
        let named = problem.map { Self.named($0, connection) }
        let pooled = Pooled(connection: connection)
        shared.withLock { shared in
            if isUsable { shared.idle.append(pooled) } else { shared.count -= 1 }
            // Told to nobody: so is each standby of a ledger in which nothing is written.
            if isBehind { shared.pausesUntil = max(shared.pausesUntil, .now + Self.shortPause) }
        }
        if let named { report(named) }
    }

    /// A problem with the server that has it.
    private static func named(_ problem: String, _ connection: PostgreSQLConnection) -> String {
        connection.server.map { "\($0.host):\($0.port): \(problem)" } ?? problem
    }

    /// Opens a connection on a thread of its own, and keeps it if the standby may answer.
    private func open() {
        opener.async { [self] in
            do {
                let connection = try PostgreSQLConnection(address, ofStandby: true)
                if let problem = try problem(of: connection) {
                    report(Self.named(problem, connection))
                } else {
                    let pooled = Pooled(connection: connection)
                    shared.withLock { shared in
                        shared.idle.append(pooled)
                        shared.count += 1
                    }
                    report(nil)
                }
            } catch {
                report((error as? PostgreSQLFailure)?.reasonOfStandby ?? "\(error)")
            }
            shared.withLock { $0.isOpening = false }
        }
    }

    /// The reason why the server of a new connection may not answer; nil for none.
    private func problem(of connection: PostgreSQLConnection) throws -> String? {
        // First, so that no session of the pooler keeps the name of a prepared statement.
        if try connection.isBehindPooler() { return "it is behind a pooler" }
        connection.require(SQLQuery(Self.health))
        do throws(PostgreSQLFailure) { try connection.flush() } catch {
            guard let reason = error.reason else { throw error }
            return reason
        }
        // A coordinator's standby would send the read to the primaries of the workers.
        return connection.hasCitus ? "it distributes the tables" : nil
    }

    /// Notes the state of the standbys, and tells it if it is another one than before.
    ///
    /// - Parameter problem: Nil for a standby that may answer.
    private func report(_ problem: String?) {
        typealias Told = (state: ReplicaState, observers: [@Sendable (ReplicaState) -> Void], lost: [Pooled])
        let (state, observers, lost) = shared.withLock { shared -> Told in
            let isNew = shared.state.isUp != (problem == nil)
            (shared.state.isUp, shared.state.problem) = (problem == nil, problem)
            guard problem != nil else { return (shared.state, isNew ? shared.observers : [], []) }
            shared.pausesUntil = .now + Self.pause
            // After a failover, the address leads to another standby.
            let lost = shared.idle
            shared.count -= lost.count
            shared.idle = []
            return (shared.state, isNew ? shared.observers : [], lost)
        }
        // Closed outside the lock.
        withExtendedLifetime(lost) {}
        for observer in observers { observer(state) }
    }
}

extension PostgreSQLFailure {
    /// The reason to leave a standby alone for a while; nil for a failure that says nothing of the next read.
    ///
    /// Class 42 tells of missing rights and missing tables (PostgreSQL, Appendix A).
    fileprivate var reasonOfStandby: String? {
        reason ?? state.flatMap { $0.hasPrefix("42") ? "it refuses a statement (SQLSTATE \($0))" : nil }
    }
}

/// The state of the standbys that answer reads, and the numbers of reads since the start.
package struct ReplicaState: Hashable, Sendable {
    /// Nil until the first attempt to reach one.
    package fileprivate(set) var isUp: Bool?
    /// The reason why none answers.
    package fileprivate(set) var problem: String?
    /// The reads that a standby has answered.
    package fileprivate(set) var answered = 0
    /// The reads that could have been a standby's, and were passed on to the primary.
    package fileprivate(set) var passedOn = 0
}
