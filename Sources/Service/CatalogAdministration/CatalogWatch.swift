import Catalog
import Features
import HTTPSupport
import Logging
import ServiceLifecycle

/// Refreshes the catalog within two seconds after another process has changed it.
package struct CatalogWatch: Service {
    private static let interval = Duration.seconds(2)

    private let service: CatalogService
    private let logger: Logger

    package init(service: CatalogService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// Polls until the service stops.
    package func run() async throws {
        var failures = FailureLog(logger, "catalog not refreshed", key: "reason")
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var reason: String?
            do { try await service.refresh() } catch let error as CatalogError {
                // Products are not secret, and the operator must know which one to correct.
                reason = error.message
            } catch {
                reason = Problem.code(of: error)
            }
            failures.record(reason)
        }
    }
}
