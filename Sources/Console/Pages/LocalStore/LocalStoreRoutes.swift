import AppStore

/// The local App Store: everything that Xcode's transaction manager does, and more.
struct LocalStoreRoutes: Sendable {
    let services: ConsoleServices
    /// The streams that follow the store. Nil without one.
    let streams: LiveStreams?

    /// Adds the pages, if this process has a local store.
    func add(to pages: ConsolePages) {
        guard let store = services.store, let streams else { return }
        StoreListRoutes(store: store).add(to: pages)
        StorePurchaseRoutes(store: store, entitlements: services.entitlements).add(to: pages)
        StoreTransactionRoutes(store: store, entitlements: services.entitlements).add(to: pages)
        StoreClockRoutes(store: store).add(to: pages)
        StoreSettingsRoutes(store: store).add(to: pages)
        StoreNotificationRoutes(store: store).add(to: pages)
        StoreStreamRoutes(team: services.team, streams: streams).add(to: pages)
    }
}
