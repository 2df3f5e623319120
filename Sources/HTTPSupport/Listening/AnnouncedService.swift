import Logging
import ServiceLifecycle

/// A service that logs a message when its shutdown begins.
package struct AnnouncedService: Service {
    package let service: any Service
    package let logger: Logger
    package let message: Logger.Message
    /// The metadata of the message, read when the shutdown begins.
    package let metadata: @Sendable () -> Logger.Metadata

    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            logger.notice(message, metadata: metadata())
        }
    }
}

/// A service that does nothing until its shutdown.
package struct IdleService: Service {
    package func run() async throws {
        try await gracefulShutdown()
    }
}
