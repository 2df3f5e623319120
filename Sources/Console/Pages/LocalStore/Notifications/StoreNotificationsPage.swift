import Commerce
import Foundation
import Receipts
import Store

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
                    Phrase("Notifications, newest first", "알림 (최신순)"),
                    columns: [
                        Phrase("Time", "시각"), Phrase("Type", "종류"), Phrase("Transaction", "거래"),
                        Phrase("State", "상태"), Phrase("Attempts", "시도"), Phrase("Send again", "다시 보내기"),
                    ], rows: notifications.map(row),
                    empty: Phrase("The store has created no notification.", "생성한 알림이 없습니다."),
                    next: nextCursor.map { ConsolePath("store", "notifications", query: ["cursor": $0]) })
            }
        }
    }

    private func row(_ notification: StoreNotification) -> [HTML] {
        [
            Shown.moment(notification.date),
            a(.href(.storeNotification(notification.notificationUUID))) { StoreNotificationText(notification).type },
            StoreNotificationText(notification).transaction,
            StoreNotificationText(notification).state,
            plain("\(notification.sendAttempts.count)"),
            Self.replay(notification, context),
        ]
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
