import AppStore
import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Vocabulary

/// The local App Store: everything that Xcode's transaction manager does, and more.
struct LocalStoreRoutes: Sendable {
    let services: any ConsoleServices
    let store: Store
    let streams: LiveStreams

    var entitlements: EntitlementService { services.entitlements }

    func add(to pages: ConsolePages) {
        addPage(to: pages)
        addAccounts(to: pages)
        addPurchases(to: pages)
        addTransactions(to: pages)
        addRetention(to: pages)
        addClock(to: pages)
        addSettings(to: pages)
        addNotifications(to: pages)
        pages.get("store/stream", .store) { request, context in
            let isReconnected = HTTPField.Name.lastEventID.map { request.headers.contains($0) } ?? false
            // The page of a browser that reconnects may be older than the stream.
            let start = isReconnected ? nil : streams.changeCount
            return try streams.response(to: request, context, services.team, .store, from: start) { known in
                let count = streams.changeCount
                defer { known = count }
                return known == count ? [] : [.change]
            }
        }
    }

    /// The app's part of a purchase: it hands the proof to the service, and finishes the transaction once the service has
    /// recorded it.
    ///
    /// - Throws: `RedemptionError` if no purchase of the proof is the user's. The transaction then stays in the queue.
    func redeem(_ transactionIdentifier: String, for user: User, by actor: AuditActor) async throws {
        let signed = try await BlockingWork.run {
            try store.read { try $0.signedTransaction(of: transactionIdentifier) }
        }
        let redemption = try await services.door.redeem(
            RedemptionRequest(Array(signed.utf8), for: user, by: actor)
        ).decision.redemption
        guard redemption.transactions.allSatisfy(\.mayFinish) else { return }
        try await BlockingWork.run {
            let listed = try store.read { try $0.listedTransaction(transactionIdentifier) }
            guard let payment = listed.payment?.transaction, payment.state.isAwaitingFinish else { return }
            _ = try store.perform(.finish, on: payment.identifier)
        }
    }
}

extension ConsolePages {
    /// Adds a page of the local store, which reads the store on a thread that may wait.
    func getStore(_ path: RouterPath, _ page: @Sendable @escaping (Request, ConsoleContext) throws -> Page) {
        get(path, .store) { request, context in try await BlockingWork.run { try page(request, context) } }
    }

    /// Adds the receiver of a form that changes the local store on a thread that may wait.
    func postStore(_ path: RouterPath, _ action: @Sendable @escaping (Request, ConsoleContext) throws -> ConsolePath) {
        post(path, .store) { request, context in try await BlockingWork.run { try action(request, context) } }
    }
}

extension ConsolePath {
    static func storeNotification(_ uuid: UUID, _ action: String..., done notice: Notice? = nil) -> ConsolePath {
        ConsolePath(["store", "notifications", uuid.lowercasedString] + action, done: notice)
    }

    /// The page of a clock.
    ///
    /// - Parameters:
    ///   - account: The account; nil for the store's clock.
    ///   - start: The start of the last step, in milliseconds since 1970.
    static func storeClock(of account: String?, from start: String? = nil, done notice: Notice? = nil) -> ConsolePath {
        ConsolePath("store", "clock", query: ["account": account, "from": start], done: notice)
    }
}

enum LocalStoreTab {
    static let transactions = Tab("Transactions", "store")
    static let buy = Tab("Buy", "store", "buy")
    static let clock = Tab("Clock", "store", "clock")
    static let notifications = Tab("Notifications", "store", "notifications")
    static let settings = Tab("Settings", "store", "settings")

    /// A page of the store with the links to the others.
    ///
    /// - Parameter present: The link to the page; nil for a page below them.
    static func page(_ title: Phrase, _ present: Tab?, @HTMLBuilder content: () -> HTML) -> Page {
        Page(title, section: .localStore) {
            Tabs.pages("Local App Store", [transactions, buy, clock, notifications, settings], present: present)
            content()
        }
    }

    /// A part of a page that the script loads again after each change in the store.
    static func live(@HTMLBuilder _ content: () -> HTML) -> HTML {
        div(.id("live"), HTMLAttribute("data-stream", ConsolePath("store", "stream").text)) { content() }
    }
}
