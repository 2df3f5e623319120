import ArgumentParser
import Foundation
import HTTPSupport
import Ledger
import Logging
import Synchronization
import Vocabulary

/// The opening of a service's ledger. A database server that is absent is waited for.
struct LedgerStart {
    let place: LedgerPlace
    let features: [LedgerFeature]
    /// The longest wait.
    let limit: Duration
    let supervisor: Supervisor
    let logger: Logger

    private static let (firstPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(5))

    /// Opens the ledger, and reports at `critical` when it stops itself, and each request that would have broken what must hold.
    ///
    /// - Throws: `StorageFault`; `ExitCode` after SIGTERM or SIGINT.
    func open() async throws -> Ledger {
        let ledger = try await opened()
        let logger = logger
        ledger.observeStop { fault in
            logger.critical(
                "the ledger has stopped", metadata: ["code": "\(fault.code)", "remedy": "\(fault.message)"])
        }
        ledger.observeBreaches { breach in
            logger.critical(
                "a rule of the ledger does not hold, so the request is refused. Report it as a defect.",
                metadata: ["rule": "\(breach.rule)", "subject": "\(breach.subject)"])
        }
        ledger.replicas?.observe { state in
            if let problem = state.problem {
                logger.warning("no standby answers reads; the primary answers all", metadata: ["reason": "\(problem)"])
            } else {
                logger.notice("a standby answers reads")
            }
        }
        return ledger
    }

    private func opened() async throws -> Ledger {
        let end = ContinuousClock.now + limit
        var pause = Self.firstPause
        StopRequest.trap()
        defer { StopRequest.release() }
        while true {
            do {
                return try place.open(features)
            } catch {
                let left = end - .now
                guard error.isOfAbsentServer, left > .zero else { throw error }
                let wait = min(pause, left)
                logger.warning(
                    "waiting for the database",
                    metadata: [
                        "ledger": "\(error.path)", "reason": "\(error.reason ?? error.code)",
                        "secondsLeft": "\(left.components.seconds)",
                    ])
                supervisor.reportWaiting("Waiting for the database.", atMost: wait + .seconds(30))
                try await StopRequest.none(for: wait)
                pause = min(pause * 2, Self.longestPause)
            }
            if StopRequest.hasArrived { throw ExitCode.success }
        }
    }
}

extension StorageFault {
    /// True if a database server may still come, or become the primary.
    fileprivate var isOfAbsentServer: Bool { cause == .unreachable || cause == .readOnly && isOnServer }
}

/// SIGTERM or SIGINT before the server handles them. The first process of a container would ignore both by default.
private enum StopRequest {
    private static let state = Atomic(false)
    private static let checkInterval = Duration.milliseconds(100)

    static var hasArrived: Bool { state.load(ordering: .relaxed) }

    static func trap() {
        state.store(false, ordering: .relaxed)
        for number in [SIGTERM, SIGINT] { signal(number) { _ in StopRequest.state.store(true, ordering: .relaxed) } }
    }

    static func release() {
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
    }

    /// Waits.
    ///
    /// - Throws: `ExitCode` when a signal arrives.
    static func none(for time: Duration) async throws {
        let end = ContinuousClock.now + time
        while !hasArrived, case let left = end - .now, left > .zero {
            try await Task.sleep(for: min(checkInterval, left))
        }
        if hasArrived { throw ExitCode.success }
    }
}
