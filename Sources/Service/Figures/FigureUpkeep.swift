import Figures
import HTTPSupport
import Logging
import ServiceLifecycle

/// Adds what was written for users to the sums, within some seconds.
///
/// Several services on one ledger may do the same: what one has written, the others leave.
public struct FigureUpkeep: Service {
    private static let interval = Duration.seconds(1)
    /// The interval of the search for users whom nothing marks, since a process without figures has written for them.
    private static let sweepInterval = Duration.seconds(60 * 60)

    private let figures: FigureService
    private let logger: Logger

    public init(figures: FigureService, logger: Logger) {
        self.figures = figures
        self.logger = logger
    }

    /// Works until it is told to stop.
    public func run() async throws {
        var nextSweep = ContinuousClock.now
        var lastCode: String?
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var code: String?
            do {
                if ContinuousClock.now >= nextSweep {
                    try await figures.sweep()
                    nextSweep = .now + Self.sweepInterval
                }
            } catch {
                code = (Problem(error) ?? .unexpected).code
            }
            // A sweep that fails holds up no sums.
            do {
                // Between two batches, what sells comes first.
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
                code = (Problem(error) ?? .unexpected).code
            }
            if let code, code != lastCode { logger.error("the figures are behind", metadata: ["code": "\(code)"]) }
            lastCode = code
        }
    }
}
