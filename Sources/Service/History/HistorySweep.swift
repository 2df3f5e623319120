import Features
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle

/// Records due changes at each run.
///
/// The service has missed notifications before its start, and while its clock jumped (a suspended machine, a local store whose
/// time was advanced). The subscription may have renewed meanwhile. So a silent end waits then until the App Store has stated
/// the renewal, at most for an hour. Without an App Store key, it waits a minute for the notifications.
package struct HistorySweep: Sendable {
    /// The longest pause between two runs, in seconds. A longer one is a jump of the clock.
    private static let maximumPause: Int64 = 5 * 60
    /// The time for which silent ends wait after a jump, in seconds.
    private static let holdSeconds: Int64 = 60
    /// The longest time for which they wait while the App Store does not answer, in seconds.
    private static let maximumHoldSeconds: Int64 = 60 * 60

    /// The start of the last run, and its duration in seconds; nil before the first one.
    private var last: (start: Timestamp, duration: Int64)?
    /// The last moment at which no silent end is reported.
    private var hold: Timestamp?
    private var lastJump: Timestamp?

    package init() {}

    /// The task that records the changes of users' histories that time alone causes, such as expirations, within two seconds. The end
    /// of the service ends the questions to the App Stores at once.
    package static func schedule(
        _ service: EntitlementService, _ reconcilers: [Reconciler], logger: Logger
    ) -> Companion {
        Companion { await cancelWhenGracefulShutdown { await repeatUntilCancelled(service, reconcilers, logger) } }
    }

    private static func repeatUntilCancelled(
        _ service: EntitlementService, _ reconcilers: [Reconciler], _ logger: Logger
    ) async {
        var (sweep, failures) = (HistorySweep(), FailureLog())
        for await _ in AsyncStream.ticks(every: .seconds(2)) {
            var code: String?
            do {
                try await sweep.run(service, reconcilers)
            } catch {
                guard !Task.isCancelled else { return }
                code = Problem.code(of: error)
            }
            failures.record(code, in: logger, "histories not updated")
        }
    }

    /// - Throws: `ReconciliationError` if the App Store does not answer; `StorageFault`.
    package mutating func run(_ service: EntitlementService, _ reconcilers: [Reconciler]) async throws {
        let (now, begun) = (service.clock.now(), SuspendingClock.now)
        if last.map({ !($0.start...$0.start.adding(seconds: $0.duration + Self.maximumPause)).contains(now) }) ?? true {
            lastJump = now
            hold = now.adding(seconds: Self.holdSeconds)
        }
        let awaiting = try await service.recordDueStates(at: now, holding: hold)
        let isHeld = hold.map { now <= $0 } ?? false
        let failure = isHeld && !awaiting.isEmpty ? await Self.ask(reconcilers, about: awaiting) : nil
        if failure != nil, let lastJump {
            // The App Store is asked again when the first wait ends, which the second one prolongs.
            hold = min(
                service.clock.now().adding(seconds: 2 * Self.holdSeconds),
                lastJump.adding(seconds: Self.maximumHoldSeconds))
        }
        // The clock may have jumped meanwhile. The next run notices it.
        last = (now, (SuspendingClock.now - begun).components.seconds)
        if let failure { throw failure }
    }

    /// - Returns: The last error of an App Store; nil if all have answered.
    private static func ask(_ reconcilers: [Reconciler], about originals: Set<TransactionKey>) async -> (any Error)? {
        var failure: (any Error)?
        for reconciler in reconcilers {
            do { try await reconciler.recordStatuses(of: originals) } catch { failure = error }
        }
        return failure
    }
}
