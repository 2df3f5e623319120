import Entitlements
import HTTPSupport
import Logging
import Proofs
import Vocabulary

/// Records due changes at each run.
///
/// The service has missed notifications before its start, and while its clock jumped (a suspended machine, a local store whose
/// time was advanced). The subscription may have renewed meanwhile. So a silent end waits then until the App Store has stated
/// the renewal, at most for an hour. Without an App Store key, it waits a minute for the notifications. An end at Google Play always waits
/// for its statement, for which `GooglePlayReconciler` asks.
package struct HistorySweep: Sendable {
    /// The longest pause between two runs, in seconds. A longer one is a jump of the clock.
    fileprivate static let maximumPause: Int64 = 5 * 60
    /// The time for which silent ends wait after a jump, in seconds.
    fileprivate static let holdSeconds: Int64 = 60
    /// The longest time for which they wait while the App Store does not answer, in seconds.
    fileprivate static let maximumHoldSeconds: Int64 = 60 * 60

    /// The runs by one clock.
    fileprivate struct Runs {
        /// The start of the last run, and its duration in seconds; nil before the first one.
        var last: (start: Timestamp, duration: Int64)?
        /// The last moment at which no silent end is reported.
        var hold: Timestamp?
        var lastJump: Timestamp?
    }

    private var runs = Runs()
    /// The runs by the customers' own clocks at a local store, by their accounts.
    private var runsOfCustomers: [String: Runs] = [:]

    package init() {}

    /// The task that records the changes of users' histories that time alone causes, such as expirations, within two seconds. The end
    /// of the service ends the questions to the App Stores at once.
    package static func schedule(
        _ service: EntitlementService, _ reconcilers: [Reconciler], logger: Logger
    ) -> Companion {
        let work = RepeatedWork(
            "histories not updated", Rhythm(every: .seconds(2), beginsAtOnce: false), logger: logger)
        return work.companion(from: HistorySweep()) { sweep in
            try await sweep.run(service, reconcilers)
            return true
        }
    }

    /// - Throws: `ReconciliationError` if the App Store does not answer; `StorageFault`.
    package mutating func run(_ service: EntitlementService, _ reconcilers: [Reconciler]) async throws {
        var (present, failure): ([String: Runs], (any Error)?) = ([:], nil)
        for customer in service.customers {
            var runs = runsOfCustomers[customer.account] ?? Runs()
            failure = try await runs.run(service, reconcilers, of: customer) ?? failure
            present[customer.account] = runs
        }
        runsOfCustomers = present
        failure = try await runs.run(service, reconcilers) ?? failure
        if let failure { throw failure }
    }

    /// - Returns: The last error of an App Store; nil if all have answered.
    fileprivate static func ask(_ reconcilers: [Reconciler], about originals: Set<TransactionKey>) async -> (any Error)?
    {
        var failure: (any Error)?
        for reconciler in reconcilers {
            do { try await reconciler.recordStatuses(of: originals) } catch { failure = error }
        }
        return failure
    }
}

extension HistorySweep.Runs {
    /// - Parameter customer: The customer whose clock it is; nil for the service's clock.
    /// - Returns: The error of an App Store that does not answer.
    fileprivate mutating func run(
        _ service: EntitlementService,
        _ reconcilers: [Reconciler],
        of customer: CustomerTime? = nil
    ) async throws -> (any Error)? {
        let (now, begun) = (customer?.now ?? service.clock.now(), SuspendingClock.now)
        if last.map({ !($0.start...$0.start.adding(seconds: $0.duration + HistorySweep.maximumPause)).contains(now) })
            ?? true
        {
            lastJump = now
            hold = now.adding(seconds: HistorySweep.holdSeconds)
        }
        let awaiting = try await service.recordDueStates(at: now, holding: hold, of: customer)
        let isHeld = hold.map { now <= $0 } ?? false
        let failure = isHeld && !awaiting.isEmpty ? await HistorySweep.ask(reconcilers, about: awaiting) : nil
        if failure != nil, let lastJump {
            // The App Store is asked again when the first wait ends, which the second one prolongs.
            hold = min(
                (customer?.now ?? service.clock.now()).adding(seconds: 2 * HistorySweep.holdSeconds),
                lastJump.adding(seconds: HistorySweep.maximumHoldSeconds))
        }
        // The clock may have jumped meanwhile. The next run notices it.
        last = (now, (SuspendingClock.now - begun).components.seconds)
        return failure
    }
}
