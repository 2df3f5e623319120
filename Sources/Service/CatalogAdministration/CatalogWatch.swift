import Catalog
import CatalogAdministration
import HTTPSupport
import Logging
import ServiceLifecycle

/// Takes up what another process has changed of the catalog, within two seconds.
public struct CatalogWatch: Service {
    private static let interval = Duration.seconds(2)

    private let service: CatalogService
    private let logger: Logger

    public init(service: CatalogService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// Looks until it is told to stop.
    public func run() async throws {
        var lastReason: String?
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var reason: String?
            do { try await service.refresh() } catch let error as CatalogError {
                // Products are no secret, and whoever mends it has to know which.
                reason = error.message
            } catch {
                reason = (Problem(error) ?? .unexpected).code
            }
            if let reason, reason != lastReason {
                logger.error("the catalog stays as it was", metadata: ["reason": "\(reason)"])
            }
            lastReason = reason
        }
    }
}
