import Dispatch
import Synchronization

/// The connections of a ledger: kept while they are good, and never more than a server would give one of its clients.
final class PostgreSQLPool: Sendable {
    private static let maximumConnections = 16
    /// How long somebody waits for a connection of others.
    private static let patience = DispatchTimeInterval.seconds(10)

    private let address: PostgreSQLAddress
    private let free = DispatchSemaphore(value: maximumConnections)
    /// Those that nobody uses.
    private let idle = Mutex<[Idle]>([])

    /// Safe to hand from thread to thread: a connection in here is nobody's. It is put in by who used it last and keeps it no
    /// longer, and taken out by who uses it next, both under the lock of `idle`.
    private struct Idle: @unchecked Sendable {
        let connection: PostgreSQLConnection
    }

    init(_ address: PostgreSQLAddress) {
        self.address = address
    }

    /// - Throws: `PostgreSQLFailure` where there is no connection to be had (`53300` where all are in use); what `body` throws,
    ///   whose transaction is rolled back.
    func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        guard free.wait(timeout: .now() + Self.patience) == .success else { throw PostgreSQLFailure(state: "53300") }
        defer { free.signal() }
        let connection = try idle.withLock { $0.popLast() }?.connection ?? PostgreSQLConnection(address)
        do {
            let value = try body(connection)
            if connection.state == .idle { keep(connection) }
            return value
        } catch {
            let isLost = (error as? PostgreSQLFailure)?.isOfConnection ?? false
            if connection.state == .inTransaction { try? connection.rollBack() }
            if isLost || connection.state != .idle {
                // Those to the same server will be no better.
                idle.withLock { $0.removeAll() }
            } else {
                keep(connection)
            }
            throw error
        }
    }

    private func keep(_ connection: PostgreSQLConnection) {
        let kept = Idle(connection: connection)
        idle.withLock { $0.append(kept) }
    }
}
