import AppStore
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs

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

/// The live rows of the store's pages: an event `change` after commits of the store.
struct StoreStreamRoutes: Sendable {
    let team: TeamService
    let streams: LiveStreams

    func add(to pages: ConsolePages) {
        pages.answer("store/stream", .store) { request, context in
            let isReconnected = HTTPField.Name.lastEventID.map { request.headers.contains($0) } ?? false
            let feed = ChangeFeed(streams, isReconnected: isReconnected)
            return try LiveResponse(streams: streams, team: team, context: context, permission: .store)
                .response(to: request) { feed.events() }
        }
    }
}

extension ConsolePath {
    /// The page of a transaction of the local store, or the receiver of an action on it.
    static func storeTransaction(
        _ identifier: String, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:]
    ) -> ConsolePath {
        ConsolePath(["store", "transactions", identifier] + [action].compactMap(\.self), query: query.map { ($0, $1) })
    }

    /// The page of a payment in the local store's queue, or the receiver of an action on it.
    static func storePayment(
        _ identifier: Int64, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:]
    ) -> ConsolePath {
        ConsolePath(
            ["store", "queue", String(identifier)] + [action].compactMap(\.self), query: query.map { ($0, $1) })
    }

    static func storeNotification(_ uuid: UUID, _ action: String? = nil, query: KeyValuePairs<String, String?> = [:])
        -> ConsolePath
    {
        ConsolePath(
            ["store", "notifications", uuid.uuidString.lowercased()] + [action].compactMap(\.self),
            query: query.map { ($0, $1) })
    }

    /// The page of an account. Its name is a parameter, because browsers resolve a segment such as "..".
    static func storeAccount(_ account: String, query: KeyValuePairs<String, String?> = [:]) -> ConsolePath {
        ConsolePath(["store", "account"], query: [("account", account)] + query.map { ($0, $1) })
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
