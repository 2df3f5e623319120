import CatalogAdministration
import Commerce
import Logging
import ServiceLifecycle

/// Takes up what another process has changed of the catalog, within two seconds.
public struct CatalogWatch: Service {
    private static let interval = Duration.seconds(2)

    private let service: CatalogService
    private let logger: Logger
    private let work = BlockingWork()

    public init(service: CatalogService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// Looks until it is told to stop.
    public func run() async throws {
        var lastCode: String?
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() {
            var code: String?
            do { try await work.run { [service] in try service.refresh() } } catch {
                code = (error as? any CodedError)?.code ?? Problem.unexpected.code
            }
            if let code, code != lastCode {
                logger.error("the catalog stays as it was", metadata: ["code": "\(code)"])
            }
            lastCode = code
        }
    }
}
