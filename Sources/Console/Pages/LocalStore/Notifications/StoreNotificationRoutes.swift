import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The notifications of the local store.
enum StoreNotificationRoutes {
    static func add(to pages: StorePages) {
        pages.get("store/notifications", list)
        pages.get("store/notifications/:notification", page)
        pages.post("store/notifications/:notification/replay") { context, store in
            let uuid = try identifier(context)
            try store.write { try $0.replay(uuid) }
            return .storeNotification(uuid, done: .queued)
        }
    }

    private static func identifier(_ context: ConsoleContext) throws -> UUID {
        guard let uuid = UUID(uuidString: try context.parameters.text("notification")) else {
            throw Problem.pathUnknown
        }
        return uuid
    }

    /// The notifications of the store, newest first.
    private static func list(_ request: Request, _ context: ConsoleContext, _ store: Store) throws -> Page {
        let page = try HTTPSupport.Page(request)
        let before = try page.before()
        let found = try store.read { try $0.notifications.page(before: before, limit: page.size + 1) }
        let (shown, next) = page.part(of: found) { String($0.number) }
        let hasAddress = try store.settings().notificationsURL != nil
        return Page("Notifications of the store", section: .localStore) {
            LocalStoreTab.links(.notifications)
            if !hasAddress {
                p(.class("note")) {
                    "The store has no address for notifications, so it sends none."
                    plain(" ")
                    a(.href(LocalStoreTab.settings.path)) { "Change the settings" }
                }
            }
            LocalStoreTab.live {
                Listing.table(
                    "Notifications, newest first", of: shown, empty: "The store has created no notification.",
                    next: next.map { ConsolePath("store", "notifications", query: ["cursor": $0]) }
                ) {
                    column("Time") { Shown.moment($0.date) }
                    column("Type") { notification in
                        a(.href(.storeNotification(notification.notificationUUID))) { type(notification) }
                    }
                    column("Transaction") { transaction($0) }
                    column("State") { state($0) }
                    column("Attempts") { plain("\($0.sendAttempts.count)") }
                    column("Send again") { replay($0, context) }
                }
            }
        }
    }

    /// The page of one notification: its facts, its attempts and its signed payload.
    private static func page(_ request: Request, _ context: ConsoleContext, _ store: Store) throws -> Page {
        let uuid = try identifier(context)
        guard let notification = try store.read({ try $0.notifications.notification(uuid) }) else {
            throw StoreError.notificationNotFound(uuid)
        }
        return Page("Notification of the store", section: .localStore) {
            LocalStoreTab.links(nil)
            LocalStoreTab.live {
                section(.class("card")) {
                    Facts.list {
                        fact("Type") { type(notification) }
                        fact("Identifier") { Shown.identifier(uuid.lowercasedString) }
                        fact("Transaction") { transaction(notification) }
                        fact("Created") { Shown.moment(notification.date) }
                        fact("State") { state(notification) }
                        fact("Next attempt") { Shown.moment(notification.nextAttemptDate) }
                    }
                }
                h2 { "Attempts" }
                Listing.table("Attempts", of: notification.sendAttempts, empty: "The notification was not sent.") {
                    column("Time") { Shown.moment($0.date) }
                    column("Result") {
                        Shown.badge($0.result == .success ? received : (Phrase(same: $0.result.rawValue), .bad))
                    }
                }
            }
            replay(notification, context)
            StoreRows.signed("Signed payload (JWS)", "payload", notification.signedPayload)
        }
    }

    private static func replay(_ notification: StoreNotification, _ context: ConsoleContext) -> HTML {
        context.form(to: .storeNotification(notification.notificationUUID, "replay")) {
            button {
                "Send again"
                span(.class("hidden")) { plain(" \(notification.notificationUUID.lowercasedString)") }
            }
        }
    }

    @HTMLBuilder private static func type(_ notification: StoreNotification) -> HTML {
        code { plain(notification.type.rawValue) }
        if let subtype = notification.subtype {
            plain(" ")
            code { plain(subtype.rawValue) }
        }
    }

    private static func transaction(_ notification: StoreNotification) -> HTML {
        notification.transactionIdentifier.map(StoreRows.transaction) ?? Shown.nothing
    }

    private static let received: Shown.Word = (Phrase("Received", context: "state"), .good)

    private static func state(_ notification: StoreNotification) -> HTML {
        if notification.nextAttemptDate != nil { return Shown.badge("Will be sent", .warning) }
        return switch notification.sendAttempts.last?.result {
        case .success: Shown.badge(received)
        case .some: Shown.badge("Not received", .bad)
        case nil: Shown.badge("Not sent")
        }
    }
}
