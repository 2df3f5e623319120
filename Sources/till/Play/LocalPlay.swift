import Foundation
import HTTPSupport
import Logging
import PlayStore
import Proofs
import Service
import Synchronization

/// A local Google Play for development in the process of the service, with a port of its own. The service trusts its licensing keys and
/// receives its notifications.
final class LocalPlay: Sendable {
    private static let notificationsPath = "/v1/notifications/google"
    private static let audience = "till-local-play"
    /// The hosts at which the Play listens as the service does, each with the one by which this machine reaches it. The Play of a service
    /// at another host listens on this machine alone.
    private static let hosts = [
        "0.0.0.0": "127.0.0.1", "127.0.0.1": "127.0.0.1", "localhost": "localhost", "::": "localhost",
        "::1": "localhost",
    ]

    let play: GooglePlay
    let sandboxKey: SandboxKey
    /// The address by which this machine reaches the Play.
    let url: URL
    /// The key file of the service's account at the Play.
    let serviceAccountFile: URL
    /// The identity tokens with which the Play pushes notifications to the service.
    let pushTokens: PushTokens.Settings
    private let configuration: ServerConfiguration
    private let logger: Logger
    /// Pushes notifications. An attempt before the service listens would fail, and the next one follows seconds later.
    let pushing: DelayedService
    /// The functions that wait until the Play listens; nil once it does.
    private let waiting = Mutex<[@Sendable () -> Void]?>([])

    /// Opens the Play of the data directory, which sells the catalog of each app of the service that it does not have yet.
    ///
    /// - Parameter port: The port; 0 for any free one.
    /// - Throws: `ServerNotStarted` for a port in use.
    init(_ service: ServeConfiguration, port: Int, sandboxKey: SandboxKey) throws {
        var configuration = ServerConfiguration()
        let host = Self.hosts[service.server.host]
        configuration.host = host == nil ? configuration.host : service.server.host
        configuration.port = try ListeningPort.choose(port, at: configuration.host, option: "--play-port")
        let address = "http://\(host ?? configuration.host):\(configuration.port)"
        guard let url = URL(string: address), let keys = TokenKeySource(address + "/oauth2/v1/certs") else {
            throw ServerNotStarted(listeningOn: address, nil, option: "--play-port")
        }
        pushTokens = PushTokens.Settings(audience: Self.audience, email: PushSettings.standardEmail, keys: keys)
        let play = try service.data.play(sellingFrom: service.catalogPlaces)
        let file = service.data.playAccountFile
        let key = try play.perform { books in
            try books.setAddress(url)
            return try books.serviceAccountKey(keptIn: file, at: url)
        }
        try PrivateFile.replace(file, with: try key.json())
        (self.play, self.sandboxKey, self.url, serviceAccountFile) = (play, sandboxKey, url, file)
        (self.configuration, logger) = (configuration, service.logger)
        pushing = DelayedService { [logger = service.logger] in try await play.pushing(logger: logger).run() }
    }

    /// The address by which this machine reaches a server that listens at one.
    static func reachable(_ address: URL) -> URL {
        guard let host = address.host().flatMap({ hosts[$0] }),
            var components = URLComponents(url: address, resolvingAgainstBaseURL: false)
        else { return address }
        components.host = host
        return components.url ?? address
    }

    /// Pushes notifications to the service in this process, which listens now, unless another address is set.
    func sendNotifications(to service: URL) {
        do {
            try play.perform { books in
                let known = try books.pushSettings()
                let isOurs =
                    known.map { $0.endpoint.path == Self.notificationsPath && $0.endpoint.host() == service.host() }
                    ?? true
                guard isOurs else { return }
                var settings = PushSettings(endpoint: service.appending(path: Self.notificationsPath))
                settings.audience = Self.audience
                try books.set(settings)
            }
        } catch {
            logger.error(
                "the local Play cannot be told where to notify", metadata: ["code": "\(Problem.code(of: error))"])
        }
        pushing.begin()
    }

    /// The Play's server, which ends after the other services beside it.
    func server() throws -> Companion {
        try ServiceServer.beside(
            play.routes(sandboxKey: sandboxKey.apiKey).router(hasNamedStores: false), configuration: configuration,
            option: "--play-port",
            logger: logger
        ) { [weak self] _ in self?.beginListening() }
    }

    private func beginListening() {
        waiting.withLock { functions in
            defer { functions = nil }
            return functions
        }?.forEach { $0() }
    }

    /// Calls a function once the Play listens.
    func whenListening(_ function: @escaping @Sendable () -> Void) {
        let isWaiting = waiting.withLock { functions in
            functions?.append(function)
            return functions != nil
        }
        if !isWaiting { function() }
    }
}
