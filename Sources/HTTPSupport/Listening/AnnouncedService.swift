import Logging
import ServiceLifecycle

/// A service that logs what it waits for when it is told to stop.
package struct AnnouncedService: Service {
    package let service: any Service
    package let logger: Logger
    package let message: Logger.Message
    /// Read when the service is told to stop.
    package let metadata: @Sendable () -> Logger.Metadata

    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await service.run()
        } onGracefulShutdown: {
            logger.notice(message, metadata: metadata())
        }
    }
}

/// A service that does nothing until it is told to stop.
package struct IdleService: Service {
    package func run() async throws {
        try await gracefulShutdown()
    }
}
