import AppStore
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The local App Store: everything that Xcode's transaction manager does, and more.
struct LocalStoreRoutes: Sendable {
    let services: ConsoleServices
    /// The streams that follow the store. Nil without one.
    let streams: LiveStreams?

    /// Adds the pages, if this process has a local store.
    func add(to pages: ConsolePages) {
        guard let store = services.store, let streams else { return }
        let own = StorePages(store: store, pages: pages)
        let redemption = StoreRedemption(store: store, entitlements: services.entitlements)
        StoreListRoutes.add(to: own)
        StorePurchaseRoutes(redemption: redemption).add(to: own)
        StoreTransactionRoutes(redemption: redemption).add(to: own)
        StoreClockRoutes.add(to: own)
        StoreSettingsRoutes.add(to: own)
        StoreNotificationRoutes.add(to: own)
        pages.get("store/stream", .store) { request, context in
            let isReconnected = HTTPField.Name.lastEventID.map { request.headers.contains($0) } ?? false
            let feed = ChangeFeed(streams, isReconnected: isReconnected)
            return try streams.response(to: request, context, services.team, .store) { feed.events() }
        }
    }
}

/// The pages below `/console/store`. Each reads or changes the store on a thread that may wait.
struct StorePages {
    let store: Store
    let pages: ConsolePages

    func get(_ path: RouterPath, _ page: @Sendable @escaping (Request, ConsoleContext, Store) throws -> Page) {
        pages.get(path, .store) { [store] request, context in
            try await BlockingWork.run { try page(request, context, store) }
        }
    }

    func post(_ path: RouterPath, _ action: @Sendable @escaping (ConsoleContext, Store) throws -> ConsolePath) {
        pages.post(path, .store) { [store] _, context in
            try await BlockingWork.run { try action(context, store) }
        }
    }
}

extension ConsolePath {
    /// The page of a transaction of the local store, or the receiver of an action on it.
    static func storeTransaction(
        _ identifier: String, _ action: String..., cursor: String? = nil, done notice: Notice? = nil
    ) -> ConsolePath {
        ConsolePath(["store", "transactions", identifier] + action, query: [("cursor", cursor)], done: notice)
    }

    /// The page of a payment in the local store's queue, or the receiver of an action on it.
    static func storePayment(_ identifier: Int64, _ action: String..., done notice: Notice? = nil) -> ConsolePath {
        ConsolePath(["store", "queue", String(identifier)] + action, done: notice)
    }

    static func storeNotification(_ uuid: UUID, _ action: String..., done notice: Notice? = nil) -> ConsolePath {
        ConsolePath(["store", "notifications", uuid.lowercasedString] + action, done: notice)
    }

    /// The page of an account. Its name is a parameter, because browsers resolve a segment such as "..".
    static func storeAccount(_ account: String, done notice: Notice? = nil) -> ConsolePath {
        ConsolePath("store", "account", query: ["account": account], done: notice)
    }
}

/// A page of the local store.
enum LocalStoreTab: String, CaseIterable {
    case transactions = ""
    case queue
    case buy
    case clock
    case notifications
    case products
    case settings

    var title: Phrase {
        switch self {
        case .transactions: "Transactions"
        case .queue: "Payment queue"
        case .buy: "Buy"
        case .clock: "Clock"
        case .notifications: "Notifications"
        case .products: "Products"
        case .settings: "Settings"
        }
    }

    var path: ConsolePath { self == .transactions ? ConsolePath("store") : ConsolePath("store", rawValue) }

    /// The links to all pages of the store.
    ///
    /// - Parameter current: The page that shows them; nil for a page below them.
    static func links(_ current: LocalStoreTab?) -> HTML {
        Tabs.list("Local App Store") {
            for tab in allCases { Tabs.link(tab.title, to: tab.path, isPresent: tab == current) }
        }
    }

    /// A part of a page that the script loads again after each change in the store.
    static func live(@HTMLBuilder _ content: () -> HTML) -> HTML {
        div(.id("live"), HTMLAttribute("data-stream", ConsolePath("store", "stream").text)) { content() }
    }
}
