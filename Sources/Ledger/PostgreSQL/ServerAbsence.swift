import Synchronization

/// The absence of a database server. Callers wait for the server during its first seconds: as long as a failover takes if the
/// address has several hosts, and as long as a restart if it has one.
final class ServerAbsence: Sendable {
    private static let (failover, restart) = (Duration.seconds(20), Duration.milliseconds(2200))

    private let timeout: Duration

    private struct State {
        /// The first failure since the server was last reached; nil while it is reached.
        var beganAt: ContinuousClock.Instant?
        /// The end of the last absence, or the first connection.
        var reachedAt = ContinuousClock.now
        /// The length of the last absence; nil if there was none.
        var lastAbsence: Duration?
    }

    private let state = Mutex(State())

    init(ofSeveralHosts: Bool) {
        timeout = ofSeveralHosts ? Self.failover : Self.restart
    }

    /// True if the server is reachable, or may return soon.
    var isShort: Bool {
        state.withLock { $0.beganAt.map { ContinuousClock.now < $0 + timeout } ?? true }
    }

    /// The beginning of an absence that may soon end; nil if there is none.
    var recentBeginning: ContinuousClock.Instant? {
        state.withLock { $0.beganAt.flatMap { ContinuousClock.now < $0 + timeout ? $0 : nil } }
    }

    /// - Parameter start: The beginning of the call that has failed. A long one has found the server at first.
    func begin(at start: ContinuousClock.Instant) {
        state.withLock { $0.beganAt = $0.beganAt ?? max(start, .now - Self.restart) }
    }

    func end() {
        state.withLock { state in
            guard let beganAt = state.beganAt else { return }
            let now = ContinuousClock.now
            state.lastAbsence = now - beganAt
            state.reachedAt = now
            state.beganAt = nil
        }
    }

    /// The present state of the server.
    var reachability: ServerReachability {
        state.withLock { state in
            ServerReachability(
                isReachable: state.beganAt == nil, time: ContinuousClock.now - (state.beganAt ?? state.reachedAt),
                lastAbsence: state.lastAbsence)
        }
    }
}
