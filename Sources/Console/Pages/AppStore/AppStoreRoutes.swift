import Features
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
            let origin = try request.query("origin").flatMap(Origin.init),
            let received = try await services.entitlements.ledger.read(
                .snapshot, { try $0.notification(identifier, of: origin) })
        else {
            throw Problem(
                status: .notFound, code: "notFound", detail: "The service has not received this notification.")
        }
        let (notification, now) = (received.notification, services.entitlements.clock.now())
        return Page("Notification: \(notification.title)", section: .appStore) {
            AppStoreTab.links(present: nil)
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
                fact("Transaction") { Self.search(notification.transactionIdentifier) }
                fact("Original transaction") { Self.search(notification.originalTransactionIdentifier) }
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
    private static func search(_ identifier: String?) -> HTML {
        guard let identifier else { return Shown.nothing }
        return a(.href(ConsolePath("customers", query: ["search": identifier]))) { Shown.identifier(identifier) }
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

/// The pages of the section about the App Store.
enum AppStoreTab {
    static let notifications = Tab("Notifications", "app-store")
    static let reconciliation = Tab("Reconciliation", "app-store", "reconciliation")
    static let consumption = Tab("Refund questions", "app-store", "consumption")

    static func links(present: Tab?) -> HTML {
        Tab.links("Pages about the App Store", [notifications, reconciliation, consumption], present: present)
    }
}
