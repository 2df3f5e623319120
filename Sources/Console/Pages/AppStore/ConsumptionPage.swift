import Features
import HTTPSupport
import Hummingbird
import Proofs

extension AppStoreRoutes {
    /// The type of the notifications with questions about refunds.
    static let consumptionType = NotificationTypeV2.consumptionRequest.rawValue
    private static let openLimit = 100

    /// The App Store's questions about purchases for which customers requested a refund.
    func consumption(_ request: Request) async throws -> Page {
        let list = try HTTPSupport.Page(request)
        let position = try list.position { ReceivedNotification.Position($0) }
        let found = try await services.entitlements.ledger.read {
            try $0.notifications(ofType: Self.consumptionType, before: position, limit: list.size)
        }
        let now = services.entitlements.clock.now()
        let open = try await services.entitlements.ledger.read {
            try $0.openConsumptionRequests(at: now, of: Set(Origin.allCases), limit: Self.openLimit)
        }
        return Page("Refund questions", section: .appStore) {
            AppStoreTab.links(present: AppStoreTab.consumption)
            p {
                "A customer requested a refund, and the App Store asks about the purchase (consumption request). It waits for an answer for twelve hours."
            }
            if services.answersConsumptionRequests {
                p { Shown.badge("The service answers by itself", .good) }
            } else {
                p { Shown.badge("Nobody answers", .warning) }
                note("If your customers consent to it, set refund-preference, and the service answers.")
            }
            part("Open") {
                Listing.table("Open questions, oldest first", of: open, empty: "No question is open.") {
                    column("Transaction") {
                        let identifier = Shown.identifier($0.transactionIdentifier)
                        a(.href(.notification($0.notificationUUID, $0.origin)), identifier)
                    }
                    column(Phrase("Redeemed", context: "question")) { $0.isRedeemed ? "Yes" : "No" }
                    column("Origin") { Shown.origin($0.origin) }
                }
            }
            part("All questions") {
                Listing.table(
                    "All questions, newest first", of: found.shown,
                    empty: "The App Store has asked nothing.",
                    next: found.next.map {
                        ConsolePath(
                            "app-store", "consumption",
                            query: ["cursor": HTTPSupport.Page.cursor(after: $0.description)])
                    }
                ) {
                    column("Received") { Shown.moment($0.notification.receivedAt) }
                    column("Transaction") {
                        let identifier = Shown.identifier($0.notification.transactionIdentifier)
                        a(.href(.notification($0.notification)), identifier)
                    }
                    column("Customer") { $0.customerLink }
                    column("Reason of the customer") { Self.reason(of: $0.notification) }
                    column("Answer") { Self.answer(to: $0, at: now) }
                }
            }
        }
    }

    /// The state of a question: answered or refused, open, or expired.
    static func answer(to received: ReceivedNotification, at now: Timestamp) -> HTML {
        if let settledAt = received.settledAt {
            return spaced(Shown.badge("Answered, or the answer was refused for good", .good), Shown.moment(settledAt))
        }
        let end = received.notification.signedAt.adding(seconds: ReceivedNotification.answerTime)
        guard end >= now else { return Shown.badge("Expired without an answer", .bad) }
        return spaced(Shown.badge("Open until", .warning), Shown.moment(end))
    }

    /// The customer's reason in the content of a notification.
    private static func reason(of notification: StatedNotification) -> HTML {
        guard let content = notification.content,
            case .object(let object)? = try? JSONParser.parse(Array(content.utf8)),
            case .object(let details)? = object["data"], let text = details.text("consumptionRequestReason")
        else { return Shown.nothing }
        let code = code { data(text) }
        return ConsumptionRequestReason(rawValue: text).map { spaced($0.title, code) } ?? code
    }
}
