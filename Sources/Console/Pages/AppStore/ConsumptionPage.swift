import Features
import HTTPSupport
import Proofs

/// The App Store's questions about purchases for which customers requested a refund.
struct ConsumptionPage {
    /// The type of the notifications with the questions.
    static let type = NotificationTypeV2.consumptionRequest.rawValue
    /// The largest number of open questions that the page lists.
    static let openLimit = 100

    /// True if the service answers the questions.
    let answers: Bool
    let open: [OpenConsumptionRequest]
    let shown: [ReceivedNotification]
    let next: ReceivedNotification.Position?
    let now: Timestamp

    var page: Page {
        Page(Phrase("Refund questions", "환불 문의"), section: .appStore) {
            AppStoreTab.links(present: .consumption)
            p {
                Phrase(
                    "A customer requested a refund, and the App Store asks about the purchase (consumption request). It "
                        + "waits for an answer for twelve hours.",
                    "고객이 환불을 요청하면 App Store가 구매에 대해 묻습니다(소비 정보 요청). 12시간 동안 답변을 기다립니다.")
            }
            if answers {
                p {
                    Shown.badge(Phrase("The service answers by itself", "서비스가 자동으로 답변합니다"), .good)
                }
            } else {
                p { Shown.badge(Phrase("Nobody answers", "답변하지 않음"), .warning) }
                p(.class("note")) {
                    Phrase(
                        "If your customers consent to it, set refund-preference, and the service answers.",
                        "고객이 동의했다면 refund-preference를 설정하세요. 서비스가 답변합니다.")
                }
            }
            section {
                h2 { Phrase("Open", "답변 대기") }
                Listing.table(
                    Phrase("Open questions, oldest first", "답변을 기다리는 문의, 오래된 순"), of: open,
                    empty: Phrase("No question is open.", "답변을 기다리는 문의가 없습니다.")
                ) {
                    column(Phrase("Transaction", "거래")) { request in
                        let path = ConsolePath(
                            "app-store", "notification",
                            query: ["uuid": request.notificationUUID, "origin": request.origin.rawValue])
                        a(.href(path)) { Shown.identifier(request.transactionIdentifier) }
                    }
                    column(Phrase("Redeemed", "지급됨")) {
                        $0.isRedeemed ? Phrase("Yes", "예") : Phrase("No", "아니요")
                    }
                    column(Phrase("Origin", "출처")) { Shown.identifier($0.origin.rawValue) }
                }
            }
            section {
                h2 { Phrase("All questions", "모든 문의") }
                Listing.table(
                    Phrase("All questions, newest first", "모든 문의, 최신순"), of: shown,
                    empty: Phrase("The App Store has asked nothing.", "받은 문의가 없습니다."),
                    next: next.map {
                        ConsolePath(
                            "app-store", "consumption",
                            query: ["cursor": HTTPSupport.Page.cursor(after: $0.description)])
                    }
                ) {
                    column(Phrase("Received", "수신")) { Shown.moment($0.notification.receivedAt) }
                    column(Phrase("Transaction", "거래")) { received in
                        a(.href(.notification(received.notification))) {
                            Shown.identifier(received.notification.transactionIdentifier)
                        }
                    }
                    column(Phrase("Customer", "고객")) { $0.customerLink }
                    column(Phrase("Reason of the customer", "고객의 이유")) { Self.reason(of: $0.notification) }
                    column(Phrase("Answer", "답변")) { Self.state(of: $0, at: now) }
                }
            }
        }
    }

    /// The state of a question: answered or refused, open, or expired.
    static func state(of received: ReceivedNotification, at now: Timestamp) -> HTML {
        if let settledAt = received.settledAt {
            return HTML {
                Shown.badge(Phrase("Answered, or the answer was refused for good", "답변했거나 답변이 최종 거부됨"), .good)
                plain(" ")
                Shown.moment(settledAt)
            }
        }
        let end = received.notification.signedAt.adding(seconds: ReceivedNotification.answerTime)
        guard end >= now else { return Shown.badge(Phrase("Expired without an answer", "답변 없이 만료"), .bad) }
        return HTML {
            Shown.badge(Phrase("Open until", "답변 기한"), .warning)
            plain(" ")
            Shown.moment(end)
        }
    }

    /// The customer's reason in the content of a notification.
    private static func reason(of notification: StatedNotification) -> HTML {
        guard let content = notification.content,
            case .object(let object)? = try? JSONParser.parse(Array(content.utf8)),
            case .object(let details)? = object["data"], case .string(let text)? = details["consumptionRequestReason"]
        else { return Shown.nothing }
        return HTML {
            if let reason = ConsumptionRequestReason(rawValue: text) {
                reason.title
                plain(" ")
            }
            code { data(text) }
        }
    }
}
