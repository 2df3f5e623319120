import Catalog
import Foundation
import HTTPSupport
import Logging
import PlayStore
import Proofs
import ServiceLifecycle
import Synchronization

/// A local Google Play for development in the process of the service, with a port of its own. The service trusts its licensing keys and
/// receives its notifications.
final class LocalPlay: Sendable {
    private static let notificationsPath = "/v1/notifications/google"
    /// The hosts of a server that listens on every address of the machine, with the host by which this machine reaches it.
    private static let hostsOfAll = ["0.0.0.0": "127.0.0.1", "::": "[::1]"]

    let play: GooglePlay
    let sandboxKey: SandboxKey
    /// The address by which this machine reaches the Play.
    let url: URL
    /// The key file of the service's account at the Play.
    let serviceAccountFile: URL
    private let configuration: ServerConfiguration
    private let logger: Logger
    private let isListening = Mutex(false)
    /// The functions that wait until the Play listens.
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    /// Opens the Play of the data directory, which sells the catalog of each app of the service that it does not have yet.
    ///
    /// - Parameter port: The port; 0 for any free one.
    /// - Throws: `ServerNotStarted` for a port in use.
    init(_ service: ServeConfiguration, port: Int, sandboxKey: SandboxKey) throws {
        var configuration = ServerConfiguration()
        configuration.host = service.server.host
        configuration.port = try ListeningPort.choose(port, at: configuration.host, option: "--play-port")
        let host = Self.hostsOfAll[configuration.host] ?? configuration.host
        guard let url = URL(string: "http://\(host):\(configuration.port)") else {
            throw ServerNotStarted(listeningOn: configuration.host, nil, option: "--play-port")
        }
        let play = try service.data.play(sellingFrom: service.catalogFolders)
        let file = service.data.playAccountFile
        let key = try play.perform { try $0.serviceAccountKey(keptIn: file, at: url) }
        try PrivateFile.replace(file, with: try key.json())
        (self.play, self.sandboxKey, self.url, serviceAccountFile) = (play, sandboxKey, url, file)
        (self.configuration, logger) = (configuration, service.logger)
    }

    /// The Play's server, which ends after the other services beside it.
    func server() throws -> Companion {
        try ServiceServer.beside(
            play.routes(sandboxKey: sandboxKey.apiKey).router(), configuration: configuration, option: "--play-port",
            logger: logger
        ) { [weak self] _ in self?.beginListening() }
    }

    private func beginListening() {
        isListening.withLock { $0 = true }
        waiting.withLock { functions in
            defer { functions = [] }
            return functions
        }.forEach { $0() }
    }

    /// Calls a function once the Play listens.
    func whenListening(_ function: @escaping @Sendable () -> Void) {
        let isWaiting = waiting.withLock { functions in
            let isWaiting = isListening.withLock { !$0 }
            if isWaiting { functions.append(function) }
            return isWaiting
        }
        if !isWaiting { function() }
    }
}
