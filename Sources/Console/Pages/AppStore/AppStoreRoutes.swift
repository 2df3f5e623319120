import Entitlements
import HTTPSupport
import Hummingbird
import Proofs

/// The pages about the App Store: its notifications, the reconciliation, and its questions about refunds.
struct AppStoreRoutes: Sendable {
    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("app-store") { request, _ in try await notifications(request) }
        pages.get("app-store/notification") { request, _ in try await notification(request) }
        pages.get("app-store/reconciliation") { _, context in try await reconciliations(context) }
        pages.post("app-store/reconciliation/:reconciliation/:subject", .administer) { _, context in
            try reconcile(context)
        }
        pages.get("app-store/consumption") { request, _ in try await consumption(request) }
    }

    private func notification(_ request: Request) async throws -> Page {
        guard let identifier = try request.query("uuid"),
            let origin = try request.query("origin").flatMap(Origin.init(rawValue:)),
            let received = try await services.ledger.read(
                .snapshot, { try $0.notification(identifier, of: origin) })
        else {
            throw Problem(
                status: .notFound, code: "notFound", detail: "The service has not received this notification.")
        }
        let (notification, now) = (received.notification, services.entitlements.clock.now())
        return AppStoreTab.page("Notification: \(notification.title)", nil) {
            if let meaning = NotificationWords.meaning(ofType: notification.type) { p { meaning } }
            Facts.card("Recorded facts") {
                fact("Outcome") { notification.outcome.badge }
                fact("Customer") { received.customerLink }
                fact("Signed") { Shown.moment(notification.signedAt) }
                fact("Received") { spaced(Shown.moment(notification.receivedAt), NotificationWords.marks(received)) }
                fact("Received again") { Shown.moment(received.repeatedAt) }
                fact("App") { Shown.identifier(received.app) }
                fact("Origin") { Shown.origin(notification.origin) }
                fact("UUID") { Shown.identifier(notification.notificationUUID) }
                fact("Transaction") { notification.transactionIdentifier.map(Self.search) }
                fact("Original transaction") { notification.originalTransactionIdentifier.map(Self.search) }
                if notification.type == Self.consumptionType {
                    fact("Answer") { Self.answer(to: received, at: now) }
                }
            }
            ContentTree.card(
                of: notification,
                note("The signed transaction and renewal inside it were verified, and are not kept here."))
        }
    }

    /// A link to the search for a transaction, which also finds unclaimed purchases.
    private static func search(_ identifier: String) -> HTML {
        a(.href(.customers(identifier)), Shown.identifier(identifier))
    }

    private func reconcile(_ context: ConsoleContext) throws -> ConsolePath {
        let (identifier, member) = (try context.parameters.text("reconciliation"), try context.requiredMember.name)
        let reconciliations = services.reconciliations
        guard let subject = ReconciliationRuns.Subject(rawValue: try context.parameters.text("subject")),
            let number = Int(identifier), reconciliations.indices.contains(number)
        else {
            throw Problem(status: .notFound, code: "notFound", detail: "There is no such reconciliation.")
        }
        guard reconciliations[number].runs.request(subject) else {
            throw Problem(
                status: .conflict, code: "reconciliationRunning",
                detail: "The reconciliation is under way. Wait until it ends, and start it again.",
                couldSucceedLater: true)
        }
        // The ledger's audit logs are those of users, and a reconciliation concerns all of them.
        context.logger.notice(
            "reconciliation requested",
            metadata: [
                "member": "\(member)", "reconciliation": "\(identifier)",
                "subject": "\(subject.rawValue)",
            ])
        return ConsolePath("app-store", "reconciliation", done: .started)
    }
}

enum AppStoreTab {
    static let notifications = Tab("Notifications", "app-store")
    static let reconciliation = Tab("Reconciliation", "app-store", "reconciliation")
    static let consumption = Tab("Refund questions", "app-store", "consumption")
    static let externalPurchases = Tab("Sales outside the App Store", "app-store", "external-purchases")
    static let externalTransactions = Tab("Sales outside Google Play", "app-store", "external-transactions")

    /// - Parameter present: The link to the page; nil for a page below them.
    static func page(_ title: Phrase, _ present: Tab?, @HTMLBuilder content: () -> HTML) -> Page {
        Page(title, section: .appStore) {
            Tabs.pages(
                "Pages about the App Store",
                [notifications, reconciliation, consumption, externalPurchases, externalTransactions], present: present)
            content()
        }
    }
}

extension AppStoreRoutes {
    /// The type of the notifications with questions about refunds.
    static let consumptionType = NotificationTypeV2.consumptionRequest.rawValue
    private static let openLimit = 100

    /// The App Store's questions about purchases for which customers requested a refund.
    func consumption(_ request: Request) async throws -> Page {
        let list = try RequestedPage(request)
        let position = try list.position { ReceivedNotification.Position($0) }
        let found = try await services.ledger.read {
            try $0.notifications(ofType: Self.consumptionType, before: position, limit: list.size)
        }
        let now = services.entitlements.clock.now()
        let (open, disputes) = try await services.ledger.read {
            (
                try $0.openConsumptionRequests(at: now, of: Set(Origin.allCases), limit: Self.openLimit),
                try $0.latestRefundReviews(limit: Self.openLimit)
            )
        }
        return AppStoreTab.page("Refund questions", AppStoreTab.consumption) {
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
                            query: ["cursor": RequestedPage.cursor(after: $0.description)])
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
            if !disputes.isEmpty {
                part("Disputed payments at Google Play") {
                    note("The customer's bank disputes a payment. Google Play waits for an answer for 24 hours.")
                    Listing.table("The latest disputes, newest first", of: disputes, empty: "There are none.") {
                        column("Asked") { Shown.moment($0.signedAt) }
                        column("Order") { Self.search($0.orderId) }
                        column("Origin") { Shown.origin($0.origin) }
                        column("Answer") { review in
                            Shown.lines(
                                Self.answer(settledAt: review.settledAt, by: review.deadline, at: now),
                                review.answer.map { data($0) })
                        }
                    }
                }
            }
        }
    }

    /// The state of a question: answered or refused, open, or expired.
    static func answer(to received: ReceivedNotification, at now: Timestamp) -> HTML {
        answer(
            settledAt: received.settledAt,
            by: received.notification.signedAt.adding(seconds: ReceivedNotification.answerTime), at: now)
    }

    private static func answer(settledAt: Timestamp?, by end: Timestamp, at now: Timestamp) -> HTML {
        if let settledAt {
            return spaced(Shown.badge("Answered, or the answer was refused for good", .good), Shown.moment(settledAt))
        }
        guard end >= now else { return Shown.badge("Expired without an answer", .bad) }
        return spaced(Shown.badge("Open until", .warning), Shown.moment(end))
    }

    private static func reason(of notification: StatedNotification) -> HTML? {
        guard let content = notification.content,
            case .object(let object)? = try? JSONParser.parse(Array(content.utf8)),
            case .object(let details)? = object["data"], let text = details.text("consumptionRequestReason")
        else { return nil }
        let code = code { data(text) }
        return ConsumptionRequestReason(rawValue: text).map { spaced($0.title, code) } ?? code
    }
}
