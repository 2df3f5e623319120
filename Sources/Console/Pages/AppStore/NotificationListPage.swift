import Features
import Proofs

/// The list of the received notifications of all apps.
struct NotificationListPage {
    let apps: [String]
    let filter: ReceivedNotificationFilter
    let shown: [ReceivedNotification]
    /// The position of the next page; nil for the last page.
    let next: ReceivedNotification.Position?
    let address: NotificationAddress

    var page: Page {
        Page(Phrase("App Store", "App Store"), section: .appStore) {
            AppStoreTab.links(present: .notifications)
            address.html
            section {
                h2 { Phrase("Received notifications", "받은 알림") }
                filterForm
                table
                // A page without rows may have a next one, so the table does not show the link.
                Listing.pager(next.map(path))
                p(.class("note")) {
                    Phrase(
                        "Late: received an hour or more after its signature, so the first attempt of the App Store "
                            + "failed, or a reconciliation fetched it. Repeated: received more than once, by a "
                            + "repetition of the App Store or by a reconciliation.",
                        "늦음: 서명 후 한 시간 이상 지나 받은 알림입니다. App Store의 첫 시도가 실패했거나 대조로 가져왔습니다. "
                            + "중복: App Store의 재전송이나 대조로 두 번 이상 받은 알림입니다.")
                }
            }
        }
    }

    private var hasSeveralApps: Bool { apps.count > 1 }

    private var filterForm: HTML {
        div(.class("actions")) {
            form(.method("get"), .action(AppStoreTab.notifications.path)) {
                Field.choice(
                    "type", Phrase("Type", "종류"), empty: Phrase("All", "전체"),
                    NotificationTypeV2.allCases.map(\.rawValue).sorted().map { ($0, Phrase(same: $0)) },
                    chosen: filter.type)
                Field.choice(
                    "outcome", Phrase("Outcome", "결과"), empty: Phrase("All", "전체"),
                    Self.outcomes.map { ($0.rawValue, $0.title) }, chosen: filter.outcome?.rawValue)
                if hasSeveralApps {
                    Field.choice(
                        "app", Phrase("App", "앱"), empty: Phrase("All", "전체"),
                        apps.map { ($0, Phrase(same: $0)) }, chosen: filter.app)
                }
                button { Phrase("Show", "보기") }
            }
        }
    }

    /// The outcomes that a stored notification can have.
    private static let outcomes: [NotificationOutcome] = [.granted, .revoked, .recorded, .parked]

    private var table: HTML {
        Listing.table(
            Phrase("Received notifications, newest first", "받은 알림, 최신순"), of: shown,
            empty: next == nil
                ? Phrase("No notification matches.", "해당하는 알림이 없습니다.")
                : Phrase("None among the last ones. Search further.", "최근 알림에는 없습니다. 더 찾아 보세요.")
        ) {
            column(Phrase("Received", "수신")) {
                Shown.moment($0.notification.receivedAt)
                plain(" ")
                NotificationWords.marks($0)
            }
            column(Phrase("Type", "종류")) { received in
                a(.href(.notification(received.notification))) { data(received.notification.type) }
                if let subtype = received.notification.subtype {
                    br()
                    small { data(subtype) }
                }
            }
            column(Phrase("Signed", "서명")) { Shown.moment($0.notification.signedAt) }
            column(Phrase("Outcome", "결과")) { $0.notification.outcome.html }
            column(Phrase("Transaction", "거래")) { received in
                let transaction = received.notification.transactionIdentifier
                Shown.identifier(transaction)
                if let original = received.notification.originalTransactionIdentifier, original != transaction {
                    br()
                    small {
                        Phrase("Original", "원 거래")
                        plain(" ")
                        Shown.identifier(original)
                    }
                }
            }
            column(Phrase("Customer", "고객")) { $0.customerLink }
            if hasSeveralApps { column(Phrase("App", "앱")) { Shown.identifier($0.app) } }
        }
    }

    private func path(after position: ReceivedNotification.Position) -> ConsolePath {
        ConsolePath(
            "app-store",
            query: [
                "type": filter.type, "outcome": filter.outcome?.rawValue, "app": filter.app,
                "cursor": position.cursor,
            ])
    }
}

extension ConsolePath {
    /// The page of a received notification.
    static func notification(_ notification: StatedNotification) -> ConsolePath {
        ConsolePath(
            "app-store", "notification",
            query: ["uuid": notification.notificationUUID, "origin": notification.origin.rawValue])
    }
}

extension ReceivedNotification {
    /// A link to the owner of the purchase.
    var customerLink: HTML { owner.map { Shown.link(to: $0) } ?? Shown.nothing }
}
