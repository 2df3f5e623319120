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
        Page(Phrase("Notifications of the store", "스토어 알림"), section: .localStore) {
            LocalStoreTab.links(.notifications)
            if !hasAddress {
                p(.class("note")) {
                    Phrase("The store has no address for notifications, so it sends none.", "알림 주소가 없어 보내지 않습니다.")
                    plain(" ")
                    a(.href(LocalStoreTab.settings.path)) { Phrase("Change the settings", "설정 변경") }
                }
            }
            LocalStoreTab.live {
                Listing.table(
                    Phrase("Notifications, newest first", "알림 (최신순)"), of: notifications,
                    empty: Phrase("The store has created no notification.", "생성한 알림이 없습니다."),
                    next: nextCursor.map { ConsolePath("store", "notifications", query: ["cursor": $0]) }
                ) {
                    column(Phrase("Time", "시각")) { Shown.moment($0.date) }
                    column(Phrase("Type", "종류")) { notification in
                        a(.href(.storeNotification(notification.notificationUUID))) {
                            StoreNotificationText(notification).type
                        }
                    }
                    column(Phrase("Transaction", "거래")) { StoreNotificationText($0).transaction }
                    column(Phrase("State", "상태")) { StoreNotificationText($0).state }
                    column(Phrase("Attempts", "시도")) { plain("\($0.sendAttempts.count)") }
                    column(Phrase("Send again", "다시 보내기")) { Self.replay($0, context) }
                }
            }
        }
    }

    static func replay(_ notification: StoreNotification, _ context: ConsoleContext) -> HTML {
        context.form(to: .storeNotification(notification.notificationUUID, "replay")) {
            button {
                Phrase("Send again", "다시 보내기")
                span(.class("hidden")) { plain(" \(notification.notificationUUID.uuidString.lowercased())") }
            }
        }
    }
}

/// A notification in words.
struct StoreNotificationText {
    private let notification: StoreNotification

    init(_ notification: StoreNotification) {
        self.notification = notification
    }

    var type: HTML {
        HTML {
            code { plain(notification.type.rawValue) }
            if let subtype = notification.subtype {
                plain(" ")
                code { plain(subtype.rawValue) }
            }
        }
    }

    var transaction: HTML {
        notification.transactionIdentifier.map { identifier in
            a(.href(.storeTransaction(identifier))) { Shown.identifier(identifier) }
        } ?? Shown.nothing
    }

    var state: HTML {
        if notification.nextAttemptDate != nil { return Shown.badge(Phrase("Will be sent", "보낼 예정"), .warning) }
        switch notification.sendAttempts.last?.result {
        case .success: return Shown.badge(Phrase("Received", "받음"), .good)
        case .some: return Shown.badge(Phrase("Not received", "받지 못함"), .bad)
        case nil: return Shown.badge(Phrase("Not sent", "보내지 않음"))
        }
    }
}
