import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Logging
import ServiceLifecycle

/// Reconciles with the App Store again and again, while the service runs.
public struct ReconciliationSchedule: Service {
    /// How long it waits after a failure, in seconds, unless the next time comes before.
    private static let retrySeconds: Int64 = 60

    private let reconciler: Reconciler
    private let notificationSeconds: Int64?
    private let historySeconds: Int64?
    private let clock: any WallClock
    private let metrics: ServiceMetrics
    private let logger: Logger

    /// - Parameters:
    ///   - notificationSeconds: How often the notifications since the last time are asked for; nil for never.
    ///   - historySeconds: The same for the histories of all customers.
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

    /// Reconciles until it is told to stop.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                if let notificationSeconds {
                    group.addTask {
                        await repeatedly(every: notificationSeconds, "notifications") {
                            try await reconciler.takeInNotifications()
                        }
                    }
                }
                if let historySeconds {
                    group.addTask {
                        await waitForNextHistories(historySeconds)
                        await repeatedly(every: historySeconds, "histories") { try await reconciler.takeInHistories() }
                    }
                }
                // A service that returns ends the others.
                group.addTask { while !Task.isCancelled { await Self.sleep(24 * 60 * 60) } }
            }
        }
    }

    /// A start is no reason to ask for everybody's history again.
    private func waitForNextHistories(_ interval: Int64) async {
        guard let last = try? await reconciler.lastHistories() else { return }
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

    /// Told to stop, it ends early; the loops see that they are cancelled.
    private static func sleep(_ seconds: Int64) async {
        try? await Task.sleep(for: .seconds(seconds))
    }
}
