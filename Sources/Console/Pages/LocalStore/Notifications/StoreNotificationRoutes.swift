import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The notifications of the local store.
struct StoreNotificationRoutes: Sendable {
    let store: Store

    func add(to pages: ConsolePages) {
        pages.get("store/notifications", .store) { request, context in
            let page = try HTTPSupport.Page(request)
            let before = try page.before()
            return try await BlockingWork.run { [store] in
                let found = try store.listedNotifications(before: before, limit: page.size + 1)
                let (shown, next) = page.part(of: found) { String($0.number) }
                return StoreNotificationsPage(
                    context: context, notifications: shown, nextCursor: next,
                    hasAddress: try store.settings().notificationsURL != nil
                ).page
            }
        }
        pages.get("store/notifications/:notification", .store) { _, context in
            let uuid = try Self.identifier(context)
            return try await BlockingWork.run { [store] in
                StoreNotificationPage(context: context, notification: try store.listedNotification(uuid))
                    .page
            }
        }
        pages.post("store/notifications/:notification/replay", .store) { _, context in
            let uuid = try Self.identifier(context)
            try await BlockingWork.run { [store] in try store.replay(uuid) }
            return .storeNotification(uuid, query: ["done": Notice.queued.rawValue])
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
                        fact("Type") { StoreNotificationText(notification).type }
                        fact("Identifier") { Shown.identifier(notification.notificationUUID.uuidString.lowercased()) }
                        fact("Transaction") { StoreNotificationText(notification).transaction }
                        fact("Created") { Shown.moment(notification.date) }
                        fact("State") { StoreNotificationText(notification).state }
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
            StoreSignedText(title: "Signed payload (JWS)", identifier: "payload", text: notification.signedPayload).html
        }
    }
}
