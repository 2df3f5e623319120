import Dispatch
import Proofs
import Synchronization

/// The pool of a ledger's connections. Their number is limited, and usable connections stay open.
final class PostgreSQLPool: Sendable {
    private static let maximumConnections = 16
    /// The timeout of a caller that waits for a connection.
    private static let timeout = DispatchTimeInterval.seconds(10)

    private let address: PostgreSQLAddress
    private let free = DispatchSemaphore(value: maximumConnections)
    private let shared = Mutex(Shared())

    private struct Shared {
        /// The unused connections.
        var idle: [Pooled] = []
        /// The server of the last opened connection, until one is lost. The servers before it in the address may be unreachable
        /// and cost a timeout each.
        var server: PostgreSQLServer?
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
    /// - Throws: `PostgreSQLFailure` if there is no connection (`53300` if all are in use); the errors of `body`, after a
    ///   rollback.
    func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        guard free.wait(timeout: .now() + Self.timeout) == .success else { throw PostgreSQLFailure(state: "53300") }
        defer { free.signal() }
        let pooled = try shared.withLock { $0.idle.popLast() } ?? open()
        let connection = pooled.connection
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

    private func open() throws(PostgreSQLFailure) -> Pooled {
        let server = shared.withLock { $0.server }
        let connection: PostgreSQLConnection
        do throws(PostgreSQLFailure) {
            connection = try PostgreSQLConnection(address, at: server)
        } catch {
            guard server != nil else { throw error }
            shared.withLock { if $0.server == server { $0.server = nil } }
            connection = try PostgreSQLConnection(address)
        }
        let opened = Pooled(connection: connection, server: connection.server)
        shared.withLock { $0.server = opened.server }
        return opened
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
/// It does not contain the server's message, which quotes written values.
struct PostgreSQLFailure: Error {
    /// The SQLSTATE (PostgreSQL, Appendix A); nil if there was no answer.
    let state: String?

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
    /// The cause of the reported fault.
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
