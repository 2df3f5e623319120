import Dispatch
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
