import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Logging
import Proofs
import ServiceLifecycle

/// The secret by which tests act as the customer and as Apple.
struct SandboxKey: Sendable {
    private static let lengths = 16...256

    /// The text of a random key, to be printed; nil for a fixed key, which is never printed.
    let printed: String?
    let apiKey: APIKey

    /// A random key.
    init() {
        let text = Randomness.system.bytes(16).hexadecimal
        printed = text
        apiKey = APIKey(text)
    }

    /// - Parameter source: The option or variable that has the key.
    /// - Throws: `ConfigurationError`, without the key.
    init(fixed text: String, from source: String) throws(ConfigurationError) {
        guard Self.lengths.contains(text.utf8.count), text.isVisibleASCII else {
            throw ConfigurationError(
                message:
                    "\(source) must have 16 to 256 characters of ASCII without spaces. `openssl rand -hex 16` prints a key."
            )
        }
        printed = nil
        apiKey = APIKey(text)
    }

    /// The line of a started store.
    var line: String { "Sandbox key: \(printed ?? "the fixed one")" }
}

/// A store for development in the process of the service. The service trusts its proofs and receives its notifications.
struct LocalStore: Sendable {
    let store: Store
    let sandboxKey: SandboxKey
    let routes: StoreRoutes
    private let listens: AsyncStream<Void>
    private let beginListening: AsyncStream<Void>.Continuation
    private let logger: Logger

    init(_ data: DataDirectory, sandboxKey: SandboxKey, logger: Logger) throws {
        self.logger = logger
        (listens, beginListening) = AsyncStream.makeStream()
        try data.prepare()
        store = try data.store()
        try data.trust(store)
        self.sandboxKey = sandboxKey
        routes = store.routes(sandboxKey: sandboxKey.apiKey)
    }

    /// Sends notifications to the service in this process, which listens now, unless another address is set, and names the store's
    /// OCSP responder there.
    func sendNotifications(to service: URL) {
        do {
            _ = try store.update { settings in
                let isOurs =
                    settings.notificationsURL.map { $0.path == Self.path && $0.host() == service.host() } ?? true
                if isOurs { settings.notificationsURL = service.appending(path: Self.path) }
            }
        } catch {
            logger.error("the store cannot be told where to notify", metadata: ["code": "\(error.code)"])
        }
        store.announceResponder(at: service, logger: logger)
        beginListening.finish()
    }

    private static let path = "/v1/notifications/apple"
}

extension LocalStore: ServiceLifecycle.Service {
    /// Sends notifications once the service listens, also those that became due while it was stopped. An earlier attempt would fail,
    /// and a sandbox makes no other.
    func run() async throws {
        await cancelWhenGracefulShutdown { [listens] in for await _ in listens {} }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
        try await store.notificationSending(logger: logger).run()
    }
}

extension Store {
    /// Names the OCSP responder of a store that listens now.
    func announceResponder(at address: URL, logger: Logger) {
        do { try nameResponder(at: address) } catch {
            logger.error(
                "the store's certificates cannot name its OCSP responder", metadata: ["code": "\(error.code)"])
        }
    }
}

/// The option and the variable of a fixed sandbox key.
struct SandboxKeyOptions: ParsableArguments {
    static let variable = "TILL_SANDBOX_KEY"

    @Option(
        help: ArgumentHelp(
            "The sandbox key, of 16 to 256 characters, for CI (default: $TILL_SANDBOX_KEY, else a random one that is printed).",
            valueName: "key"))
    var sandboxKey: String?

    /// The key in use: the option's, else the variable's, else a random one.
    ///
    /// - Throws: `ConfigurationError` for a key that is too short or too long, or cannot be sent in a header.
    func key() throws(ConfigurationError) -> SandboxKey {
        if let sandboxKey { return try SandboxKey(fixed: sandboxKey, from: "--sandbox-key") }
        guard let text = ProcessInfo.variable(Self.variable) else { return SandboxKey() }
        return try SandboxKey(fixed: text, from: Self.variable)
    }
}
