import Logging
import ServiceLifecycle

/// A service that logs what it waits for when it is told to stop.
struct AnnouncedService: Service {
    let service: any Service
    let logger: Logger
    let message: Logger.Message
    /// Read when the service is told to stop.
    let metadata: @Sendable () -> Logger.Metadata

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            logger.notice(message, metadata: metadata())
        }
    }
}

/// A service that does nothing until it is told to stop.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
