import Logging
import ServiceLifecycle

/// A service that logs a message when its shutdown begins.
struct AnnouncedService: Service {
    let service: any Service
    let logger: Logger
    let message: Logger.Message
    /// The metadata of the message, read when the shutdown begins.
    let metadata: @Sendable () -> Logger.Metadata

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            logger.notice(message, metadata: metadata())
        }
    }
}

/// A service that does nothing until its shutdown.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
