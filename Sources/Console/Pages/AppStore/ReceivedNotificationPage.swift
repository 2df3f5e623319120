import Features
import Proofs

/// The page of one received notification, with its decoded content.
struct ReceivedNotificationPage {
    let received: ReceivedNotification
    let now: Timestamp

    private var notification: StatedNotification { received.notification }

    var page: Page {
        let title = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return Page(Phrase("Notification: \(title)", "알림: \(title)"), section: .appStore) {
            AppStoreTab.links(present: nil)
            if let meaning = NotificationWords.meaning(ofType: notification.type) { p { meaning } }
            section(.class("card")) {
                h2 { Phrase("Recorded facts", "기록된 사실") }
                Facts.list(facts)
            }
            section(.class("card")) {
                h2 { Phrase("Content", "내용") }
                if let content = notification.content.flatMap({ ContentTree.html(ofJSON: $0) }) {
                    content
                    p(.class("note")) {
                        Phrase(
                            "The signed transaction and renewal inside it were verified, and are not kept here.",
                            "안에 있는 서명된 거래와 갱신 정보는 검증했으며 여기에 보관하지 않습니다.")
                    }
                } else {
                    p(.class("empty")) { Phrase("The content was not kept.", "내용을 보관하지 않았습니다.") }
                }
            }
        }
    }

    private var facts: [(name: Phrase, value: HTML)] {
        var facts: [(name: Phrase, value: HTML)] = [
            (Phrase("Outcome", "결과"), notification.outcome.html),
            (Phrase("Customer", "고객"), received.customerLink),
            (Phrase("Signed", "서명"), Shown.moment(notification.signedAt)),
            (
                Phrase("Received", "수신"),
                HTML {
                    Shown.moment(notification.receivedAt)
                    plain(" ")
                    NotificationWords.marks(received)
                }
            ),
            (Phrase("Received again", "다시 수신"), Shown.moment(received.repeatedAt)),
            (Phrase("App", "앱"), Shown.identifier(received.app)),
            (Phrase("Origin", "출처"), Shown.identifier(notification.origin.rawValue)),
            (Phrase("UUID", "UUID"), Shown.identifier(notification.notificationUUID)),
            (Phrase("Transaction", "거래"), Self.search(notification.transactionIdentifier)),
            (Phrase("Original transaction", "원 거래"), Self.search(notification.originalTransactionIdentifier)),
        ]
        if notification.type == ConsumptionPage.type {
            facts.append((Phrase("Answer", "답변"), ConsumptionPage.state(of: received, at: now)))
        }
        return facts
    }

    /// A link to the search for a transaction, which also finds unclaimed purchases.
    private static func search(_ identifier: String?) -> HTML {
        guard let identifier else { return Shown.nothing }
        return a(.href(ConsolePath("customers", query: ["search": identifier]))) { Shown.identifier(identifier) }
    }
}
