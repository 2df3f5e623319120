import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The notifications of the local store.
enum StoreNotificationRoutes {
    static func add(to pages: StorePages) {
        pages.get("store/notifications") { request, context, store in
            let page = try HTTPSupport.Page(request)
            let found = try store.listedNotifications(before: try page.before(), limit: page.size + 1)
            let (shown, next) = page.part(of: found) { String($0.number) }
            return StoreNotificationsPage(
                context: context, notifications: shown, nextCursor: next,
                hasAddress: try store.settings().notificationsURL != nil
            ).page
        }
        pages.get("store/notifications/:notification") { _, context, store in
            let notification = try store.listedNotification(try identifier(context))
            return StoreNotificationPage(context: context, notification: notification).page
        }
        pages.post("store/notifications/:notification/replay") { context, store in
            let uuid = try identifier(context)
            try store.replay(uuid)
            return .storeNotification(uuid, done: .queued)
        }
    }

    private static func identifier(_ context: ConsoleContext) throws -> UUID {
        guard let uuid = UUID(uuidString: try context.parameters.text("notification")) else {
            throw Problem.pathUnknown
        }
        return uuid
    }
}

/// The page of one notification: its facts, its attempts and its signed payload.
struct StoreNotificationPage {
    let context: ConsoleContext
    let notification: StoreNotification

    var page: Page {
        Page("Notification of the store", section: .localStore) {
            LocalStoreTab.links(nil)
            LocalStoreTab.live {
                section(.class("card")) {
                    Facts.list {
                        fact("Type") { notification.typeText }
                        fact("Identifier") { Shown.identifier(notification.notificationUUID.uuidString.lowercased()) }
                        fact("Transaction") { notification.transactionLink }
                        fact("Created") { Shown.moment(notification.date) }
                        fact("State") { notification.stateBadge }
                        fact("Next attempt") { Shown.moment(notification.nextAttemptDate) }
                    }
                }
                h2 { "Attempts" }
                Listing.table("Attempts", of: notification.sendAttempts, empty: "The notification was not sent.") {
                    column("Time") { Shown.moment($0.date) }
                    column("Result") {
                        $0.result == .success
                            ? Shown.badge(Phrase("Received", context: "state"), .good)
                            : Shown.badge(Phrase(same: $0.result.rawValue), .bad)
                    }
                }
            }
            StoreNotificationsPage.replay(notification, context)
            signedText("Signed payload (JWS)", identifier: "payload", notification.signedPayload)
        }
    }
}
