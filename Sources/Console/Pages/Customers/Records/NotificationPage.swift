import Features
import Proofs

/// The page of a notification about a customer's purchase.
struct NotificationPage {
    let user: User
    let recorded: RecordedNotification

    var page: Page {
        let notification = recorded.notification
        let title = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return Page(Phrase("Notification: \(title)", "알림: \(title)"), section: .customers) {
            CustomerCrumb(user: user).html
            section(.class("card")) {
                h2 { Phrase("Recorded facts", "기록된 사실") }
                Facts.list([
                    (Phrase("Outcome", "결과"), notification.outcome.html),
                    (Phrase("Signed", "서명"), Shown.moment(notification.signedAt)),
                    (Phrase("Received", "수신"), Shown.moment(notification.receivedAt)),
                    (Phrase("Origin", "출처"), OriginWords.html(notification.origin)),
                    (Phrase("UUID", "UUID"), Shown.identifier(notification.notificationUUID)),
                    (Phrase("Transaction", "거래"), Shown.identifier(notification.transactionIdentifier)),
                    (
                        Phrase("Original transaction", "원 거래"),
                        Shown.identifier(notification.originalTransactionIdentifier)
                    ),
                    (
                        Phrase("Digest of the signed bytes (SHA-256)", "서명된 바이트의 다이제스트 (SHA-256)"),
                        Shown.identifier(recorded.proofDigest.hexadecimal)
                    ),
                ])
            }
            section(.class("card")) {
                h2 { Phrase("Content", "내용") }
                if let content = notification.content.flatMap({ ContentTree.html(ofJSON: $0) }) {
                    content
                } else {
                    p(.class("empty")) { Phrase("The content was not kept.", "내용을 보관하지 않았습니다.") }
                }
            }
        }
    }
}
