import Features
import Foundation
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle

/// Reconciles with the App Store at intervals and on request while the service runs.
package struct ReconciliationSchedule: Service {
    /// The pause after a failure, in seconds, unless the regular interval is shorter.
    private static let retrySeconds: Int64 = 60

    fileprivate let reconciler: Reconciler
    fileprivate let notificationSeconds: Int64?
    fileprivate let historySeconds: Int64?
    fileprivate let runs: ReconciliationRuns
    fileprivate let metrics: ServiceMetrics
    fileprivate let logger: Logger

    private var clock: any WallClock { reconciler.service.clock }

    /// Reconciles until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    if notificationSeconds == nil { await runs.wait(for: .notifications, upTo: nil) }
                    await repeatedly(every: notificationSeconds, .notifications) {
                        try await reconciler.recordNotifications()
                    }
                }
                group.addTask {
                    await waitForNextHistoryRun()
                    await repeatedly(every: historySeconds, .histories) { try await reconciler.recordHistories() }
                }
            }
        }
    }

    /// Waits for the rest of the interval after a restart, so that a restart does not request all histories again.
    private func waitForNextHistoryRun() async {
        guard let interval = historySeconds else { return await runs.wait(for: .histories, upTo: nil) }
        guard let last = try? await reconciler.lastHistoryRun() else { return }
        let passed = clock.now().secondsSince1970 - last.secondsSince1970
        await runs.wait(for: .histories, upTo: min(max(0, interval - passed), interval))
    }

    /// - Parameter interval: The interval in seconds; nil to run only on request.
    private func repeatedly(
        every interval: Int64?,
        _ subject: ReconciliationRuns.Subject,
        _ reconcile: () async throws -> Reconciler.Report
    ) async {
        while !Task.isCancelled {
            runs.begin(subject, at: clock.now())
            do {
                let report = try await reconcile()
                runs.end(subject, report.outcomes, errorCode: nil, at: clock.now())
                metrics.count(.reconciliations, "done")
                let counts = report.outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                logger.info(
                    "reconciled",
                    metadata: ["subject": "\(subject.rawValue)", "outcomes": "\(counts.joined(separator: ","))"])
                await runs.wait(for: subject, upTo: interval)
            } catch {
                let code = (error as? any CodedError)?.code ?? Problem.unexpected.code
                runs.end(subject, [:], errorCode: code, at: clock.now())
                guard !Task.isCancelled else { return }
                metrics.count(.reconciliations, "failed", code: code)
                logger.error("reconciliation failed", metadata: ["subject": "\(subject.rawValue)", "code": "\(code)"])
                await runs.wait(for: subject, upTo: interval.map { min($0, Self.retrySeconds) })
            }
        }
    }
}

extension Reconciler {
    /// The runs at intervals and on request.
    ///
    /// - Parameters:
    ///   - notificationSeconds: The interval for the notifications since the last run; nil for never.
    ///   - historySeconds: The interval for the histories of all customers; nil for never.
    ///   - runs: The record of the runs, and the requests for others.
    package func schedule(
        notificationSeconds: Int64?,
        historySeconds: Int64?,
        runs: ReconciliationRuns = ReconciliationRuns(),
        metrics: ServiceMetrics,
        logger: Logger
    ) -> ReconciliationSchedule {
        ReconciliationSchedule(
            reconciler: self, notificationSeconds: notificationSeconds, historySeconds: historySeconds, runs: runs,
            metrics: metrics, logger: logger)
    }
}
