import Dispatch
import Synchronization

/// The connections of a ledger: kept while they are good, and never more than a server would give one of its clients.
final class PostgreSQLPool: Sendable {
    private static let maximumConnections = 16
    /// How long somebody waits for a connection of others.
    private static let patience = DispatchTimeInterval.seconds(10)

    private let address: PostgreSQLAddress
    private let free = DispatchSemaphore(value: maximumConnections)
    private let shared = Mutex(Shared())

    private struct Shared {
        /// The connections that nobody uses.
        var idle: [Pooled] = []
        /// The server of the last connection that was opened, until one is lost: the servers before it in the address may be
        /// away, and would be waited for.
        var server: PostgreSQLServer?
    }

    /// A connection, and the server at the other end.
    ///
    /// The connection itself is not Sendable. It is safe to pass it between threads here: one thread at a time has it, since it is
    /// taken out of `idle` before it is used, and put back after its last use, both under the lock of `shared`.
    private struct Pooled: @unchecked Sendable {
        let connection: PostgreSQLConnection
        let server: PostgreSQLServer?
    }

    init(_ address: PostgreSQLAddress) {
        self.address = address
    }

    /// - Throws: `PostgreSQLFailure` where there is no connection to be had (`53300` where all are in use); what `body` throws,
    ///   whose transaction is rolled back.
    func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        guard free.wait(timeout: .now() + Self.patience) == .success else { throw PostgreSQLFailure(state: "53300") }
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

    /// Those to the server of a lost connection will be no better. After a failover, others are to another server.
    private func discard(connectionsTo server: PostgreSQLServer?) {
        shared.withLock { shared in
            shared.idle.removeAll { $0.server == server }
            if shared.server == server { shared.server = nil }
        }
    }
}
