import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Logging
import ServiceLifecycle

/// Reconciles with the App Store at intervals while the service runs.
public struct ReconciliationSchedule: Service {
    /// The pause after a failure, in seconds, unless the regular interval is shorter.
    private static let retrySeconds: Int64 = 60

    private let reconciler: Reconciler
    private let notificationSeconds: Int64?
    private let historySeconds: Int64?
    private let clock: any WallClock
    private let metrics: ServiceMetrics
    private let logger: Logger

    /// - Parameters:
    ///   - notificationSeconds: The interval for the notifications since the last run; nil for never.
    ///   - historySeconds: The interval for the histories of all customers; nil for never.
    public init(
        reconciler: Reconciler,
        notificationSeconds: Int64?,
        historySeconds: Int64?,
        clock: any WallClock,
        metrics: ServiceMetrics,
        logger: Logger
    ) {
        self.reconciler = reconciler
        self.notificationSeconds = notificationSeconds
        self.historySeconds = historySeconds
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// Reconciles until the service stops.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                if let notificationSeconds {
                    group.addTask {
                        await repeatedly(every: notificationSeconds, "notifications") {
                            try await reconciler.recordNotifications()
                        }
                    }
                }
                if let historySeconds {
                    group.addTask {
                        await waitForNextHistoryRun(historySeconds)
                        await repeatedly(every: historySeconds, "histories") { try await reconciler.recordHistories() }
                    }
                }
                // A service that returns would end the others.
                group.addTask { while !Task.isCancelled { await Self.sleep(24 * 60 * 60) } }
            }
        }
    }

    /// Waits for the rest of the interval after a restart, so that a restart does not request all histories again.
    private func waitForNextHistoryRun(_ interval: Int64) async {
        guard let last = try? await reconciler.lastHistoryRun() else { return }
        let passed = clock.now().secondsSince1970 - last.secondsSince1970
        await Self.sleep(min(max(0, interval - passed), interval))
    }

    private func repeatedly(
        every interval: Int64,
        _ subject: String,
        _ reconcile: () async throws -> Reconciler.Report
    ) async {
        while !Task.isCancelled {
            do {
                let report = try await reconcile()
                metrics.countReconciliation()
                let counts = report.outcomes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                logger.info(
                    "reconciled",
                    metadata: ["subject": "\(subject)", "outcomes": "\(counts.joined(separator: ","))"])
                await Self.sleep(interval)
            } catch {
                guard !Task.isCancelled else { return }
                let code = (error as? any CodedError)?.code ?? Problem.unexpected.code
                metrics.countReconciliation(code: code)
                logger.error("reconciliation failed", metadata: ["subject": "\(subject)", "code": "\(code)"])
                await Self.sleep(min(interval, Self.retrySeconds))
            }
        }
    }

    /// Cancellation ends the pause early; the loops then end.
    private static func sleep(_ seconds: Int64) async {
        try? await Task.sleep(for: .seconds(seconds))
    }
}
