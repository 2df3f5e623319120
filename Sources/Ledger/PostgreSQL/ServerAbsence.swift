import Synchronization

/// The absence of a database server. Callers wait for the server during its first seconds, as long as a failover takes.
final class ServerAbsence: Sendable {
    private static let timeout = Duration.seconds(20)

    private struct State {
        /// The first failure since the server was last reached; nil while it is reached.
        var beganAt: ContinuousClock.Instant?
        /// The end of the last absence, or the first connection.
        var reachedAt = ContinuousClock.now
        /// The length of the last absence; nil if there was none.
        var lastAbsence: Duration?
    }

    private let state = Mutex(State())

    /// True if the server is reachable, or may return soon.
    var isShort: Bool {
        state.withLock { $0.beganAt.map { ContinuousClock.now < $0 + Self.timeout } ?? true }
    }

    func begin() { state.withLock { $0.beganAt = $0.beganAt ?? .now } }

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
