import Synchronization

/// The absence of a database server. Callers wait for the server during its first seconds, as long as a failover takes.
final class ServerAbsence: Sendable {
    private static let timeout = Duration.seconds(20)

    /// The first failure since the server was last reached; nil while it is reached.
    private let beganAt = Mutex<ContinuousClock.Instant?>(nil)

    /// True if the server is reachable, or may return soon.
    var isShort: Bool { beganAt.withLock { $0.map { ContinuousClock.now < $0 + Self.timeout } ?? true } }

    func begin() { beganAt.withLock { $0 = $0 ?? .now } }

    func end() { beganAt.withLock { $0 = nil } }
}
