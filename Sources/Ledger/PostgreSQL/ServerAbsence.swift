import Synchronization

/// The absence of a database server: waited for in its first seconds, as long as a failover takes.
final class ServerAbsence: Sendable {
    private static let patience = Duration.seconds(20)

    /// The first failure since the server was last reached; nil while it is reached.
    private let beganAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Whether the server is reached, or expected back soon.
    var isShort: Bool { beganAt.withLock { $0.map { ContinuousClock.now < $0 + Self.patience } ?? true } }

    func begin() { beganAt.withLock { $0 = $0 ?? .now } }

    func end() { beganAt.withLock { $0 = nil } }
}
