import Entitlements
import HTTPSupport
import Logging
import ServiceLifecycle

/// Records the changes of users' histories that time alone causes, such as expirations, within two seconds.
public struct HistorySchedule: Service {
    private static let interval = Duration.seconds(2)

    private let service: EntitlementService
    private let logger: Logger

    public init(service: EntitlementService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// Runs until the service stops.
    public func run() async throws {
        var isPrepared = false
        var failures = FailureLog(logger, "histories not updated")
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var code: String?
            do {
                if !isPrepared { try await service.recordMissingStates() }
                isPrepared = true
                try await service.recordDueStates()
            } catch {
                code = Problem.code(of: error)
            }
            failures.record(code)
        }
    }
}
