import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// The HTTP server of the service, the store or both. It listens until its shutdown.
package enum ServiceServer {
    /// Serves until SIGTERM or SIGINT arrives. Then it accepts no more requests, finishes those in progress and
    /// returns.
    ///
    /// - Parameters:
    ///   - backgroundServices: The services that run beside the server and stop before it.
    ///   - stoppedLast: The services that stop after the server, each with its log message.
    ///   - certificate: The TLS certificate; nil to load that of the configuration.
    ///   - onListening: The closure that is called once, with the address.
    /// - Throws: `ServerNotStarted`.
    package static func run(
        _ router: Router<ServiceContext>,
        backgroundServices: [any Service] = [],
        stoppedLast: [(service: any Service, message: Logger.Message)] = [],
        configuration: ServerConfiguration,
        certificate: ServerCertificate? = nil,
        logger: Logger,
        onListening: @escaping @Sendable (URL) -> Void
    ) async throws {
        func announced(
            _ service: any Service,
            _ message: Logger.Message,
            metadata: @escaping @Sendable () -> Logger.Metadata = { [:] }
        ) -> any Service {
            AnnouncedService(service: service, logger: logger, message: message, metadata: metadata)
        }
        let connections = ConnectionTable(configuration, logger: logger)
        let application = try application(router, connections, configuration, certificate, logger, onListening)
        let end = BoundedEnd(after: configuration.gracePeriod)
        var group = ServiceGroupConfiguration(
            // The group stops them in reverse order.
            services: stoppedLast.map { announced($0.service, $0.message) }
                + [
                    announced(application, "waiting for requests under way") {
                        ["connections": "\(connections.busyCount)"]
                    }
                ] + backgroundServices
                + [
                    announced(IdleService(), "stopping") {
                        ["graceSeconds": "\(configuration.gracePeriod.components.seconds)"]
                    },
                    end,
                ],
            // The group's own log lines would repeat each service and error.
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "", factory: { _ in SwiftLogNoOpLogHandler() }))
        group.maximumGracefulShutdownDuration = configuration.gracePeriod
        do {
            let isEnded = try await end.run(ServiceGroup(configuration: group))
            guard isEnded else {
                return logger.warning(
                    "stopped before all work was done, because a thread waits, such as for the ledger")
            }
            logger.notice("stopped")
        } catch is CancellationError {
            logger.warning("stopped before all requests were done, because the grace period is over")
        } catch {
            throw notStarted(error, listeningOn: address(of: configuration))
        }
    }

    /// Another server in the same process, as a background service of `run`.
    ///
    /// - Parameter option: The option of its port, for errors.
    package static func beside(
        _ router: Router<ServiceContext>, configuration: ServerConfiguration, option: String, logger: Logger,
        onListening: @escaping @Sendable (URL) -> Void
    ) throws -> Companion {
        let connections = ConnectionTable(configuration, logger: logger)
        let server: any Service = try application(router, connections, configuration, nil, logger, onListening)
        let address = address(of: configuration)
        return Companion {
            do { try await server.run() } catch {
                throw error is CancellationError ? error : notStarted(error, listeningOn: address, option: option)
            }
        }
    }

    private static func address(of configuration: ServerConfiguration) -> String {
        "\(configuration.writtenHost):\(configuration.port)"
    }

    private static func notStarted(
        _ error: any Error, listeningOn address: String, option: String = "--port"
    ) -> ServerNotStarted {
        // The one of a server beside this one.
        if let error = error as? ServerNotStarted { return error }
        return ServerNotStarted(listeningOn: address, (error as? IOError)?.errnoCode, option: option)
    }

    private static func application(
        _ router: Router<ServiceContext>, _ connections: ConnectionTable, _ configuration: ServerConfiguration,
        _ certificate: ServerCertificate?, _ logger: Logger, _ onListening: @escaping @Sendable (URL) -> Void
    ) throws -> Application<RouterResponder<ServiceContext>> {
        let address = "\(configuration.tls == nil ? "http" : "https")://\(configuration.writtenHost)"
        return Application(
            router: router,
            server: try channel(connections, configuration, certificate),
            configuration: .init(address: .hostname(configuration.host, port: configuration.port), serverName: "till"),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port, let url = URL(string: "\(address):\(port)") {
                    onListening(url)
                }
            },
            logger: logger)
    }

    private static func channel(
        _ connections: ConnectionTable, _ configuration: ServerConfiguration, _ certificate: ServerCertificate?
    ) throws -> HTTPServerBuilder {
        let connection = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionHandler(connections, configuration)],
            idleTimeout: TimeAmount(configuration.idleTime),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: RequestHead.maximumFieldLength, maxHeaderListSize: RequestHead.maximumLength,
                maxHeaderFieldCount: RequestHead.maximumFieldCount))
        guard let certificate = try certificate ?? ServerCertificate(configuration) else {
            return .http1(configuration: connection)
        }
        return HTTPServerBuilder { responder in
            CertifiedChannel(
                base: HTTP1Channel(responder: responder, configuration: connection), certificate: certificate,
                lingerTime: TimeAmount(configuration.lingerTime))
        }
    }
}

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

/// The end of a service group, also if a thread never returns from a call: the group waits for cancelled work without a limit.
private final class BoundedEnd: Service, Sendable {
    /// The time for which the group may take to end after the grace period.
    private static let patience = Duration.seconds(2)

    private let limit: Duration
    private let results: AsyncStream<Result<Void, any Error>>
    private let end: AsyncStream<Result<Void, any Error>>.Continuation

    init(after gracePeriod: Duration) {
        limit = gracePeriod + Self.patience
        (results, end) = AsyncStream.makeStream()
    }

    /// The part of the group that learns of its shutdown.
    func run() async throws {
        try await gracefulShutdown()
        Task { [limit, end] in
            try? await Task.sleep(for: limit)
            end.finish()
        }
    }

    /// Runs the group.
    ///
    /// - Returns: False if it has not ended in time.
    func run(_ group: ServiceGroup) async throws -> Bool {
        let task = Task { [end] in
            do {
                try await group.run()
                end.yield(.success(()))
            } catch {
                end.yield(.failure(error))
            }
            end.finish()
        }
        let result = await withTaskCancellationHandler {
            var last: Result<Void, any Error>?
            for await result in results { last = result }
            return last
        } onCancel: {
            task.cancel()
        }
        if result == nil, Task.isCancelled {
            // A cancelled caller gets no element of the stream.
            await task.value
            throw CancellationError()
        }
        try result?.get()
        return result != nil
    }
}

/// A service that does nothing until its shutdown.
struct IdleService: Service {
    func run() async throws {
        try await gracefulShutdown()
    }
}
