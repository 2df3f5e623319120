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
        Page(Phrase("Notification of the store", "스토어 알림"), section: .localStore) {
            LocalStoreTab.links(nil)
            LocalStoreTab.live {
                section(.class("card")) {
                    Facts.list([
                        (Phrase("Type", "종류"), StoreNotificationText(notification).type),
                        (
                            Phrase("Identifier", "식별자"),
                            Shown.identifier(notification.notificationUUID.uuidString.lowercased())
                        ),
                        (Phrase("Transaction", "거래"), StoreNotificationText(notification).transaction),
                        (Phrase("Created", "생성"), Shown.moment(notification.date)),
                        (Phrase("State", "상태"), StoreNotificationText(notification).state),
                        (Phrase("Next attempt", "다음 시도"), Shown.moment(notification.nextAttemptDate)),
                    ])
                }
                h2 { Phrase("Attempts", "시도") }
                Listing.table(
                    Phrase("Attempts", "시도"), of: notification.sendAttempts,
                    empty: Phrase("The notification was not sent.", "아직 보내지 않았습니다.")
                ) {
                    column(Phrase("Time", "시각")) { Shown.moment($0.date) }
                    column(Phrase("Result", "결과")) {
                        $0.result == .success
                            ? Shown.badge(Phrase("Received", "받음"), .good)
                            : Shown.badge(Phrase(same: $0.result.rawValue), .bad)
                    }
                }
            }
            StoreNotificationsPage.replay(notification, context)
            StoreSignedText(
                title: Phrase("Signed payload (JWS)", "서명된 내용 (JWS)"), identifier: "payload",
                text: notification.signedPayload
            ).html
        }
    }
}
