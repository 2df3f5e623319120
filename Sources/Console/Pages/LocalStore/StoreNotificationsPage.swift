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
            a(.href(.storeNotification(notification.notificationUUID))) { NotificationText(notification).type },
            NotificationText(notification).transaction,
            NotificationText(notification).state,
            plain("\(notification.sendAttempts.count)"),
            Self.replay(notification, context),
        ]
    }

    static func replay(_ notification: StoreNotification, _ context: ConsoleContext) -> HTML {
        context.form(to: .storeNotification(notification.notificationUUID, "replay")) {
            button { Phrase("Send again", "다시 보내기") }
        }
    }
}

/// The page of one notification: its facts, its attempts and its signed payload.
struct StoreNotificationPage {
    let context: ConsoleContext
    let notification: StoreNotification

    var page: Page {
        Page(Phrase("Notification of the store", "스토어 알림"), section: .localStore) {
            LocalStoreTab.links(nil)
            LocalStoreTab.live {
                section(.class("card")) {
                    Facts.list([
                        (Phrase("Type", "종류"), NotificationText(notification).type),
                        (
                            Phrase("Identifier", "식별자"),
                            Shown.identifier(notification.notificationUUID.uuidString.lowercased())
                        ),
                        (Phrase("Transaction", "거래"), NotificationText(notification).transaction),
                        (Phrase("Created", "생성"), Shown.moment(notification.date)),
                        (Phrase("State", "상태"), NotificationText(notification).state),
                        (Phrase("Next attempt", "다음 시도"), Shown.moment(notification.nextAttemptDate)),
                    ])
                }
                h2 { Phrase("Attempts", "시도") }
                Listing.table(
                    Phrase("Attempts", "시도"), columns: [Phrase("Time", "시각"), Phrase("Result", "결과")],
                    rows: notification.sendAttempts.map { attempt in
                        [
                            Shown.moment(attempt.date),
                            attempt.result == .success
                                ? Shown.badge(Phrase("Received", "받음"), .good)
                                : Shown.badge(Phrase(same: attempt.result.rawValue), .bad),
                        ]
                    }, empty: Phrase("The notification was not sent.", "아직 보내지 않았습니다."))
            }
            StoreNotificationsPage.replay(notification, context)
            SignedText(
                title: Phrase("Signed payload (JWS)", "서명된 내용 (JWS)"), identifier: "payload",
                text: notification.signedPayload
            ).html
        }
    }
}

/// A notification in words.
struct NotificationText {
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

/// A signed text with a button that copies it.
struct SignedText {
    let title: Phrase
    /// The identifier of the text on the page.
    let identifier: String
    let text: String

    var html: HTML {
        details(.class("action")) {
            summary { title }
            button(.type("button"), HTMLAttribute("data-copy", identifier)) { Phrase("Copy", "복사") }
            pre(.id(identifier), HTMLAttribute("tabindex", "0")) { plain(text) }
        }
    }
}
