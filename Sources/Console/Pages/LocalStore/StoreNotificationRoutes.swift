import AppStore
import Foundation
import HTTPSupport
import Hummingbird

extension LocalStoreRoutes {
    private static let demanded = Field.choice(
        "notification", "Type and subtype", NotificationOnDemand.allCases, expected: "a notification of the list",
        text: \.name, shown: { Phrase(same: $0.name) }, isRequired: true)
    private static let transaction = Field.text(
        "transaction", "Transaction of the subscription", maximumLength: 40,
        note: "For METADATA_UPDATE, MIGRATION and PRICE_CHANGE."
    ).optional("a transaction") { $0 }
    private static let account = Field.text(
        "account", "Account of the customer", upTo: Store.maximumAccountLength, note: "For RESCIND_CONSENT."
    ).optional("an account") { $0 }

    func addNotifications(to pages: ConsolePages) {
        pages.getStore("store/notifications", notifications)
        pages.postStore("store/notifications") { _, context in
            let (demanded, form) = (try context.form[Self.demanded], context.form)
            let (transaction, account) = (try form[Self.transaction], try form[Self.account])
            let sent = try store.write {
                try $0.notify(demanded, transactionIdentifier: transaction, account: account)
            }
            return .storeNotification(sent.notificationUUID, done: .created)
        }
        pages.getStore("store/notifications/:notification", notification)
        pages.postStore("store/notifications/:notification/replay") { _, context in
            let uuid = try context.parameter("notification") { UUID(uuidString: $0) }
            try store.write { try $0.replay(uuid) }
            return .storeNotification(uuid, done: .queued)
        }
    }

    private func notifications(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let page = try RequestedPage(request)
        let before = try page.before()
        let found = try store.read { try $0.notifications.page(before: before, limit: page.size + 1) }
        let (shown, next) = page.part(of: found) { String($0.number) }
        let hasAddress = try store.settings().notificationsURL != nil
        return LocalStoreTab.page("Notifications of the store", LocalStoreTab.notifications) {
            if !hasAddress {
                p(.class("note")) {
                    "The store has no address for notifications, so it sends none."
                    also(a(.href(LocalStoreTab.settings.path)) { "Change the settings" })
                }
            }
            context.action("Send a notification on demand", to: LocalStoreTab.notifications.path, submit: "Send") {
                Self.demanded
                Self.transaction
                Self.account
            }
            LocalStoreTab.live {
                Listing.table(
                    "Notifications, newest first", of: shown, empty: "The store has created no notification.",
                    next: next.map { ConsolePath("store", "notifications", query: ["cursor": $0]) }
                ) {
                    column("Time") { Shown.moment($0.date) }
                    column("Type") { a(.href(.storeNotification($0.notificationUUID)), Self.type($0)) }
                    column("Transaction") { $0.transactionIdentifier.map(StoreRows.transaction) }
                    column("State") { Self.state($0) }
                    column("Attempts") { plain("\($0.sendAttempts.count)") }
                    column("Send again") { Self.replay($0, context) }
                }
            }
        }
    }

    /// The page of one notification: its facts, its attempts and its signed payload.
    private func notification(_ request: Request, _ context: ConsoleContext) throws -> Page {
        let uuid = try context.parameter("notification") { UUID(uuidString: $0) }
        guard let notification = try store.read({ try $0.notifications.notification(uuid) }) else {
            throw StoreError.notificationNotFound(uuid)
        }
        return LocalStoreTab.page("Notification of the store", nil) {
            LocalStoreTab.live {
                Facts.card {
                    fact("Type") { Self.type(notification) }
                    fact("Identifier") { Shown.identifier(uuid.lowercasedString) }
                    fact("Transaction") { notification.transactionIdentifier.map(StoreRows.transaction) }
                    fact("Created") { Shown.moment(notification.date) }
                    fact("State") { Self.state(notification) }
                    fact("Next attempt") { Shown.moment(notification.nextAttemptDate) }
                }
                h2 { "Attempts" }
                Listing.table("Attempts", of: notification.sendAttempts, empty: "The notification was not sent.") {
                    column("Time") { Shown.moment($0.date) }
                    column("Result") {
                        Shown.badge($0.result == .success ? Self.received : (Phrase(stated: $0.result.rawValue), .bad))
                    }
                }
            }
            Self.replay(notification, context)
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
        if let subtype = notification.subtype { also(code { plain(subtype.rawValue) }) }
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
