import AppStore
import Foundation
import HTTPSupport
import Logging
import Proofs
import Service
import ServiceLifecycle

/// A store for development in the process of the service. The service trusts its proofs and receives its notifications.
struct LocalStore: Sendable {
    let store: Store
    let sandboxKey: SandboxKey
    let routes: StoreRoutes
    private let sender: NotificationSender
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
        routes = StoreRoutes(store: store, sandboxKey: sandboxKey.apiKey)
        sender = NotificationSender(store: store, logger: logger)
    }

    /// Sends notifications to the service in this process, which listens now, unless another address is set.
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
        try await sender.run()
    }
}
