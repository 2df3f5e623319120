import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Logging
import Service
import Signatures
import Store
import StoreHTTP
import Wire

/// A store for development in the process of the service. The service trusts its proofs and receives its notifications.
struct LocalStore: Sendable {
    let store: Store
    let sandboxKey: SandboxKey
    let routes: StoreRoutes
    let sender: NotificationSender
    private let logger: Logger

    init(_ data: DataDirectory, sandboxKey: SandboxKey, logger: Logger) throws {
        self.logger = logger
        try data.prepare()
        store = try data.store()
        try data.trust(store)
        self.sandboxKey = sandboxKey
        routes = StoreRoutes(store: store, sandboxKey: sandboxKey.apiKey)
        sender = NotificationSender(store: store, logger: logger)
    }

    /// Sends notifications to the service in this process, unless another address is set.
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
    }

    private static let path = "/v1/notifications/apple"
}
