import Entitlements
import HTTPSupport
import Logging
import Proofs

/// Finds a clock that was set, and mends what a clock ahead has left in the ledger.
///
/// A service that starts does not know the clock of the one before it, so it mends at its first look, too.
package struct ClockWatch: Sendable {
    private static let interval = Duration.seconds(1)
    /// The difference that the correction of a running clock may have, in milliseconds.
    private static let tolerance: Int64 = 5000

    /// The last look: the clock, and the time since the start of the service; nil before the first one.
    private var last: (clock: Timestamp, elapsed: Duration)?
    /// True until the ledger is mended.
    private var isDue = true

    package init() {}

    /// The task that looks at the clock each second.
    package static func schedule(_ service: EntitlementService, logger: Logger) -> Companion {
        let work = RepeatedWork("times of a wrong clock not mended", Rhythm(every: interval), logger: logger)
        let started = ContinuousClock.now
        return work.companion(from: ClockWatch()) { watch in
            try await watch.look(at: service, after: ContinuousClock.now - started, logger: logger)
            return true
        }
    }

    /// Mends the ledger if the clock was set since the last look.
    ///
    /// - Parameter elapsed: The time since the start of the service, by a clock that nobody sets.
    /// - Throws: `StorageFault`. The next look tries again.
    package mutating func look(at service: EntitlementService, after elapsed: Duration, logger: Logger) async throws {
        let now = service.clock.now()
        if let last {
            let passed = (elapsed - last.elapsed) / .milliseconds(1)
            let back = last.clock.millisecondsSince1970 + Int64(passed) - now.millisecondsSince1970
            if abs(back) > Self.tolerance {
                logger.warning(
                    back > 0 ? "the clock was set back" : "the clock was set forward",
                    metadata: ["seconds": "\(abs(back) / 1000)"])
                isDue = true
            }
        }
        last = (now, elapsed)
        guard isDue else { return }
        let counts = try await service.mendTimes(to: now)
        isDue = false
        guard !counts.isEmpty else { return }
        let changed = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        logger.warning(
            "times that a wrong clock had written were taken back",
            metadata: ["rows": "\(changed.joined(separator: ","))"])
    }
}
