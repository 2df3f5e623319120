import Dispatch
import Synchronization
import Vocabulary

/// The pool of a ledger's connections. Their number is limited, and usable connections stay open.
final class PostgreSQLPool: Sendable {
    private static let maximumConnections = 16
    /// The connections that short reads may have at a time. The commits, two long reads and what else writes keep the others.
    static let maximumReads = maximumConnections - 4
    /// The timeout of a caller that waits for a connection.
    private static let timeout = DispatchTimeInterval.seconds(10)

    /// The time after a loss in which a request gets its connection or its answer.
    private static let timeAfterLoss = Duration.milliseconds(2600)
    private static let shortestAttempt = Duration.milliseconds(500)
    /// The pause after a refusal. Without it, each of many waiting callers would wait for a server that is away.
    private static let pauseAfterRefusal = Duration.milliseconds(500)

    private let address: PostgreSQLAddress
    private let free = DispatchSemaphore(value: maximumConnections)
    private let shared = Mutex(Shared())

    private struct Shared {
        var idle: [Pooled] = []
        /// The server of the last opened connection, until one is lost. The servers before it in the address may be unreachable
        /// and cost a timeout each.
        var server: PostgreSQLServer?
        /// The last failure to connect, and its moment; nil after a connection.
        var refusal: (failure: PostgreSQLFailure, at: ContinuousClock.Instant)?
        /// True while a caller tries a server that has refused before.
        var isTrying = false
    }

    /// A connection, and the server at the other end.
    ///
    /// The connection itself is not Sendable. It is safe to pass it between threads here, because one thread at a time has it:
    /// the pool takes it out of `idle` before its use and puts it back afterwards, both under the lock of `shared`.
    private struct Pooled: @unchecked Sendable {
        let connection: PostgreSQLConnection
        let server: PostgreSQLServer?
    }

    init(_ address: PostgreSQLAddress) {
        self.address = address
    }

    /// Runs `body` with a connection of the pool.
    ///
    /// - Parameter loss: The moment since which the server is away; nil if it is not, or for long.
    /// - Throws: `PostgreSQLFailure` if there is no connection (`53300` if all are in use); the errors of `body`, after a
    ///   rollback.
    func withConnection<Value>(
        after loss: ContinuousClock.Instant? = nil, _ body: (PostgreSQLConnection) throws -> Value
    ) throws -> Value {
        guard free.wait(timeout: .now() + Self.timeout) == .success else { throw PostgreSQLFailure(state: "53300") }
        defer { free.signal() }
        let pooled = try shared.withLock { $0.idle.popLast() } ?? open(after: loss)
        let connection = pooled.connection
        connection.foundTables = nil
        do {
            let value = try body(connection)
            if connection.state == .idle { shared.withLock { $0.idle.append(pooled) } }
            return value
        } catch {
            let isLost = (error as? PostgreSQLFailure)?.isOfConnection ?? false
            if connection.state == .inTransaction { try? connection.rollBack() }
            if isLost || connection.state != .idle {
                discard(connectionsTo: pooled.server)
            } else {
                shared.withLock { $0.idle.append(pooled) }
            }
            throw error
        }
    }

    private func open(after loss: ContinuousClock.Instant?) throws(PostgreSQLFailure) -> Pooled {
        let now = ContinuousClock.now
        let (server, refusal) = shared.withLock { shared -> (PostgreSQLServer?, PostgreSQLFailure?) in
            guard let refusal = shared.refusal else { return (shared.server, nil) }
            // One caller at a time tries a server that is away.
            guard !shared.isTrying, now >= refusal.at + Self.pauseAfterRefusal else { return (nil, refusal.failure) }
            shared.isTrying = true
            return (shared.server, nil)
        }
        if let refusal { throw refusal }
        let time = loss.map { max(Self.shortestAttempt, $0 + Self.timeAfterLoss - now) }
        do throws(PostgreSQLFailure) {
            let opened = try connect(at: server, within: time)
            shared.withLock { ($0.server, $0.refusal, $0.isTrying) = (opened.server, nil, false) }
            return opened
        } catch {
            shared.withLock { ($0.refusal, $0.isTrying) = ((error, .now), false) }
            throw error
        }
    }

    private func connect(at server: PostgreSQLServer?, within time: Duration?) throws(PostgreSQLFailure) -> Pooled {
        let connection: PostgreSQLConnection
        do throws(PostgreSQLFailure) {
            connection = try PostgreSQLConnection(address, at: server, within: time)
        } catch {
            guard server != nil else { throw error }
            shared.withLock { if $0.server == server { $0.server = nil } }
            // With one host, the other servers are the same.
            guard address.hasSeveralHosts else { throw error }
            connection = try PostgreSQLConnection(address)
        }
        return Pooled(connection: connection, server: connection.server)
    }

    /// Closes the idle connections to the server of a lost connection. After a failover, other connections lead to another
    /// server.
    private func discard(connectionsTo server: PostgreSQLServer?) {
        shared.withLock { shared in
            shared.idle.removeAll { $0.server == server }
            if shared.server == server { shared.server = nil }
        }
    }
}

/// An error of a PostgreSQL server, or of the connection to it.
///
/// It does not contain the server's message about a statement, which quotes written values.
struct PostgreSQLFailure: Error {
    /// The SQLSTATE (PostgreSQL, Appendix A); nil if there was no answer.
    let state: String?
    /// The reason why there is no connection, or the value of a requirement; nil for the error of a statement.
    var reason: String?

    /// True if a concurrent transaction may have caused the failure, so that a retry may succeed.
    ///
    /// The causes are a serialization failure, a deadlock, a lock timeout, a unique violation by a concurrent transaction,
    /// another version of a row (22012, see `PostgreSQLDatabase.update`) and an internal error.
    var isConflict: Bool { ["40001", "40P01", "55P03", "22012"].contains(state) || isUniqueViolation || isInternal }

    /// An internal error of the server; on Citus, also a conflict on a worker.
    var isInternal: Bool { state == "XX000" }

    /// True if a key already exists.
    var isUniqueViolation: Bool { state == "23505" }

    /// True if the connection is unusable: it is lost, or its server is not the primary.
    var isOfConnection: Bool { isConnectionLost || state == "25006" }

    /// True if the connection is lost, or the server closes it. The server may have run the commands nevertheless.
    var isConnectionLost: Bool {
        guard let state else { return true }
        return state.hasPrefix("08") || state.hasPrefix("57P")
    }

    /// True if a retry of the transaction may succeed.
    var isRetryable: Bool { isConflict || isOfConnection }

    /// True if a value violates a constraint, or is invalid for any table.
    var isConstraintViolation: Bool { state.map { $0.hasPrefix("23") || $0.hasPrefix("22") } ?? false }
}

extension PostgreSQLFailure {
    /// The largest number of characters of a reason.
    private static let maximumReason = 300

    /// The failure to connect to an address, with the message of libpq about it. Servers that all refuse to write are told from
    /// those that do not answer.
    init(connecting address: PostgreSQLAddress, _ message: String) {
        // A line that begins with a tab is advice.
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("\t") }
        let areReplicas =
            !lines.isEmpty
            && lines.allSatisfy { line in
                line.contains("session is read-only") || line.contains("server is in hot standby mode")
            }
        let text = lines.joined(separator: "; ").unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
            .map { $0.properties.generalCategory == .control ? " " : String($0) }.joined()
        reason = String(address.withoutPassword(text).prefix(Self.maximumReason))
        state = areReplicas ? "25006" : nil
    }

    var cause: StorageFault.Cause {
        if isConflict && !isInternal || state == "53300" { return .busy }
        switch state {
        case "25006": return .readOnly
        case "53100": return .diskFull
        case "XX001", "XX002", "42P01", "42703": return .damaged
        case "42501": return .cannotOpen
        default: return isOfConnection ? .unreachable : .failed
        }
    }
}
