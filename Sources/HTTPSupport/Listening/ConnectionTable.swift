import Ledger
import Logging
import NIOCore
import Synchronization

/// The open connections, limited in total and for each client network.
///
/// A new connection evicts another one if the table is full, or one of its own network if that is full. The eviction order is:
/// 1. A connection whose client has closed its side.
/// 2. The oldest connection without a request.
/// 3. The connection that has waited longest for its next request.
/// 4. The connection whose body has taken longest.
///
/// Connections with a complete request in progress are never evicted. The request time limits them.
package final class ConnectionTable: Sendable {
    package final class Connection: Sendable {
        private enum State {
            static let abandoned: UInt64 = 0
            static let silent: UInt64 = 1
            static let waiting: UInt64 = 2
            static let reading: UInt64 = 3
            static let busy: UInt64 = 4
        }

        fileprivate let network: ClientNetwork
        private let close: @Sendable () -> Void
        private let state = Atomic(State.silent)
        /// The start of the wait, in nanoseconds of the event loops' clock.
        private let waitsSince: Atomic<UInt64>

        package init(
            from network: ClientNetwork, at now: NIODeadline, close: @escaping @Sendable () -> Void
        ) {
            self.network = network
            self.close = close
            waitsSince = Atomic(now.uptimeNanoseconds)
        }

        /// Records that the head of a request has arrived.
        package func requestBegan(at now: NIODeadline) {
            waitsSince.store(now.uptimeNanoseconds, ordering: .relaxed)
            state.store(State.reading, ordering: .relaxed)
        }

        /// Records that a complete request has arrived.
        package func requestRead() {
            state.store(State.busy, ordering: .relaxed)
        }

        /// Records that all requests of the connection have been answered.
        package func requestsEnded(at now: NIODeadline) {
            waitsSince.store(now.uptimeNanoseconds, ordering: .relaxed)
            state.store(State.waiting, ordering: .relaxed)
        }

        /// Records that the client has closed its side and may not read the response.
        package func clientClosed() {
            state.store(State.abandoned, ordering: .relaxed)
        }

        /// The order of eviction, lowest first. Nil while a request is in progress.
        fileprivate var evictionOrder: (UInt64, UInt64)? {
            let state = state.load(ordering: .relaxed)
            return state == State.busy ? nil : (state, waitsSince.load(ordering: .relaxed))
        }

        fileprivate func evict() { close() }
    }

    private struct Connections {
        var open: [ObjectIdentifier: Connection] = [:]
        /// Nil if only the total is limited.
        var byNetwork: NetworkCounts?
        var refused = 0
        var warnedAt: NIODeadline?
    }

    private static let warningInterval = TimeAmount.seconds(60)

    private let total: Int
    private let logger: Logger
    private let connections: Mutex<Connections>

    package init(_ configuration: ServerConfiguration, logger: Logger) {
        total = configuration.maximumConnections
        let perAddress = configuration.maximumConnectionsPerAddress
        connections = Mutex(Connections(byNetwork: perAddress.map { [total] in NetworkCounts(ofHost: $0, of: total) }))
        self.logger = logger
    }

    package var count: Int { connections.withLock { $0.open.count } }

    /// The number of connections with a request in progress.
    var busyCount: Int {
        connections.withLock { $0.open.values.count { $0.evictionOrder == nil } }
    }

    /// Admits a connection. If a limit is reached, it evicts another.
    ///
    /// - Returns: False if a limit is reached and no connection can be evicted.
    package func admit(_ connection: Connection, at now: NIODeadline) -> Bool {
        let (isAdmitted, evicted, warning) = connections.withLock { connections -> (Bool, Connection?, Int?) in
            let fullNetwork = connections.byNetwork?.full(around: connection.network)
            let isFull = fullNetwork != nil || connections.open.count >= total
            let evicted = isFull ? Self.evictable(among: connections, in: fullNetwork) : nil
            if let evicted { Self.remove(evicted, from: &connections) }
            let isAdmitted = !isFull || evicted != nil
            if isAdmitted {
                connections.open[ObjectIdentifier(connection)] = connection
                connections.byNetwork?.add(of: connection.network)
            }
            return (isAdmitted, evicted, isFull ? Self.warning(&connections, at: now) : nil)
        }
        evicted?.evict()
        if let warning {
            logger.warning(
                "connections were closed because a limit on connections was reached",
                metadata: ["closed": "\(warning)", "lastAddress": "\(connection.network)"])
        }
        return isAdmitted
    }

    package func remove(_ connection: Connection) {
        connections.withLock { Self.remove(connection, from: &$0) }
    }

    private static func evictable(among connections: Connections, in network: ClientNetwork?) -> Connection? {
        var first: (connection: Connection, order: (UInt64, UInt64))?
        for connection in connections.open.values where network?.contains(connection.network) ?? true {
            guard let order = connection.evictionOrder else { continue }
            if first.map({ order < $0.order }) ?? true { first = (connection, order) }
        }
        return first?.connection
    }

    private static func remove(_ connection: Connection, from connections: inout Connections) {
        guard connections.open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        connections.byNetwork?.remove(of: connection.network)
    }

    /// Counts a connection that a limit has closed.
    ///
    /// - Returns: The number of connections closed since the last warning, or nil if the last warning is recent.
    private static func warning(_ connections: inout Connections, at now: NIODeadline) -> Int? {
        connections.refused += 1
        if let warnedAt = connections.warnedAt, now < warnedAt + warningInterval { return nil }
        defer { connections.refused = 0 }
        connections.warnedAt = now
        return connections.refused
    }
}
