import Features
import HTTPSupport
import Logging
import ServiceLifecycle

/// Adds new writes of users to the sums, within a few seconds.
///
/// Several services on one ledger may run this. Each write is added once.
package struct FigureUpkeep: Service {
    private static let interval = Duration.seconds(1)
    /// The interval of the search for unmarked users. A process without figures writes without marking.
    private static let sweepInterval = Duration.seconds(60 * 60)

    private let figures: FigureService
    private let logger: Logger

    package init(figures: FigureService, logger: Logger) {
        self.figures = figures
        self.logger = logger
    }

    /// Runs until the service stops.
    package func run() async throws {
        var nextSweep = ContinuousClock.now
        var failures = FailureLog(logger, "figures not updated")
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var code: String?
            do {
                if ContinuousClock.now >= nextSweep {
                    try await figures.sweep()
                    nextSweep = .now + Self.sweepInterval
                }
            } catch {
                code = Problem.code(of: error)
            }
            // A failed sweep does not stop the roll-up.
            do {
                // Purchases go first between two batches.
                let damaged = try await figures.rollUp {
                    await Task.yield()
                    return !Task.isShuttingDownGracefully && !Task.isCancelled
                }
                if damaged > 0 {
                    logger.error(
                        "figures of users were damaged: compute all anew with till figures --rebuild",
                        metadata: ["users": "\(damaged)"])
                }
            } catch {
                code = Problem.code(of: error)
            }
            failures.record(code)
        }
    }
}
