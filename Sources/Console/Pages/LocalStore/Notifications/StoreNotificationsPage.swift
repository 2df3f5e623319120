import AppStore
import Foundation
import Proofs

/// The notifications of the store, newest first.
struct StoreNotificationsPage {
    let context: ConsoleContext
    let notifications: [StoreNotification]
    let nextCursor: String?
    /// True if the store has an address to send them to.
    let hasAddress: Bool

    var page: Page {
        Page("Notifications of the store", section: .localStore) {
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
                    "Notifications, newest first", of: notifications,
                    empty: "The store has created no notification.",
                    next: nextCursor.map { ConsolePath("store", "notifications", query: ["cursor": $0]) }
                ) {
                    column("Time") { Shown.moment($0.date) }
                    column("Type") { notification in
                        a(.href(.storeNotification(notification.notificationUUID))) {
                            notification.typeText
                        }
                    }
                    column("Transaction") { $0.transactionLink }
                    column("State") { $0.stateBadge }
                    column("Attempts") { plain("\($0.sendAttempts.count)") }
                    column("Send again") { Self.replay($0, context) }
                }
            }
        }
    }

    static func replay(_ notification: StoreNotification, _ context: ConsoleContext) -> HTML {
        context.form(to: .storeNotification(notification.notificationUUID, "replay")) {
            button {
                "Send again"
                span(.class("hidden")) { plain(" \(notification.notificationUUID.uuidString.lowercased())") }
            }
        }
    }
}

/// A notification in words.
extension StoreNotification {
    @HTMLBuilder var typeText: HTML {
        code { plain(type.rawValue) }
        if let subtype = subtype {
            plain(" ")
            code { plain(subtype.rawValue) }
        }
    }

    var transactionLink: HTML {
        transactionIdentifier.map { identifier in
            a(.href(.storeTransaction(identifier))) { Shown.identifier(identifier) }
        } ?? Shown.nothing
    }

    var stateBadge: HTML {
        if nextAttemptDate != nil { return Shown.badge("Will be sent", .warning) }
        switch sendAttempts.last?.result {
        case .success: return Shown.badge(Phrase("Received", context: "state"), .good)
        case .some: return Shown.badge("Not received", .bad)
        case nil: return Shown.badge("Not sent")
        }
    }
}
