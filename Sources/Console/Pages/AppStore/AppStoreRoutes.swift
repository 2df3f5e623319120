import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The pages about the App Store: its notifications, the reconciliation, and its questions about refunds.
struct AppStoreRoutes: Sendable {
    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("app-store") { request, context in try await notifications(request, context) }
        pages.get("app-store/notification") { request, _ in try await notification(request) }
        pages.get("app-store/reconciliation") { _, context in
            ReconciliationPage(
                context: context, apps: services.entitlements.apps.all.map(\.bundleIdentifier),
                reconciliations: try await services.system.reconciliations()
            ).page
        }
        pages.post("app-store/reconciliation/:reconciliation/:subject", .administer) { _, context in
            try reconcile(context)
        }
        pages.get("app-store/consumption") { request, _ in try await consumption(request) }
    }

    private func notifications(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let filter = ReceivedNotificationFilter(
            type: try Self.choice("type", of: request),
            outcome: try Self.choice("outcome", of: request).flatMap(NotificationOutcome.init),
            app: try Self.choice("app", of: request))
        let list = try HTTPSupport.Page(request)
        let position = try list.position { ReceivedNotification.Position($0) }
        let found = try await services.entitlements.ledger.read {
            try $0.notifications(filter, before: position, limit: list.size)
        }
        let latest = try await services.entitlements.ledger.read {
            try $0.notifications(ReceivedNotificationFilter(), before: nil, limit: 1)
        }
        return NotificationListPage(
            apps: services.entitlements.apps.all.map(\.bundleIdentifier), filter: filter, shown: found.shown,
            next: found.next,
            address: NotificationAddress(
                authority: request.head.authority ?? "", last: latest.shown.first, hasLocalStore: services.store != nil)
        ).page
    }

    /// The value of a parameter; nil if it is missing or empty, as a form without a choice sends it.
    private static func choice(_ name: String, of request: Request) throws -> String? {
        try request.query(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func notification(_ request: Request) async throws -> Page {
        guard let identifier = try request.query("uuid"),
            let origin = try request.query("origin").flatMap(Origin.init),
            let found = try await services.entitlements.ledger.read(
                .snapshot, { try $0.notification(identifier, of: origin) })
        else {
            throw Problem(
                status: .notFound, code: "notFound", detail: "The service has not received this notification.")
        }
        return ReceivedNotificationPage(received: found, now: services.entitlements.clock.now()).page
    }

    private func reconcile(_ context: ConsoleContext) throws -> ConsolePath {
        let (identifier, member) = (try context.parameters.text("reconciliation"), try context.requiredMember.name)
        guard let subject = ReconciliationRuns.Subject(rawValue: try context.parameters.text("subject")),
            let isRequested = services.system.requestReconciliation(identifier, subject)
        else {
            throw Problem(status: .notFound, code: "notFound", detail: "There is no such reconciliation.")
        }
        guard isRequested else {
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

    private func consumption(_ request: Request) async throws -> Page {
        let list = try HTTPSupport.Page(request)
        let position = try list.position { ReceivedNotification.Position($0) }
        let found = try await services.entitlements.ledger.read {
            try $0.notifications(
                ReceivedNotificationFilter(type: ConsumptionPage.type), before: position, limit: list.size)
        }
        let open = try await services.entitlements.openConsumptionRequests(
            of: Set(Origin.allCases), limit: ConsumptionPage.openLimit)
        return ConsumptionPage(
            answers: services.system.answersConsumptionRequests, open: open, shown: found.shown, next: found.next,
            now: services.entitlements.clock.now()
        ).page
    }
}

/// The page of one received notification, with its decoded content.
struct ReceivedNotificationPage {
    let received: ReceivedNotification
    let now: Timestamp

    private var notification: StatedNotification { received.notification }

    var page: Page {
        let title = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
        return Page("Notification: \(title)", section: .appStore) {
            AppStoreTab.links(present: nil)
            if let meaning = NotificationWords.meaning(ofType: notification.type) { p { meaning } }
            card("Recorded facts") { Facts.list(facts) }
            card("Content") {
                if let content = notification.content.flatMap({ ContentTree.html(ofJSON: $0) }) {
                    content
                    note("The signed transaction and renewal inside it were verified, and are not kept here.")
                } else {
                    emptyNote("The content was not kept.")
                }
            }
        }
    }

    @FactsBuilder private var facts: [Fact] {
        fact("Outcome") { notification.outcome.html }
        fact("Customer") { received.customerLink }
        fact("Signed") { Shown.moment(notification.signedAt) }
        fact("Received") { spaced(Shown.moment(notification.receivedAt), NotificationWords.marks(received)) }
        fact("Received again") { Shown.moment(received.repeatedAt) }
        fact("App") { Shown.identifier(received.app) }
        fact("Origin") { Shown.identifier(notification.origin.rawValue) }
        fact("UUID") { Shown.identifier(notification.notificationUUID) }
        fact("Transaction") { Self.search(notification.transactionIdentifier) }
        fact("Original transaction") { Self.search(notification.originalTransactionIdentifier) }
        if notification.type == ConsumptionPage.type { fact("Answer") { ConsumptionPage.state(of: received, at: now) } }
    }

    /// A link to the search for a transaction, which also finds unclaimed purchases.
    private static func search(_ identifier: String?) -> HTML {
        guard let identifier else { return Shown.nothing }
        return a(.href(ConsolePath("customers", query: ["search": identifier]))) { Shown.identifier(identifier) }
    }
}

/// The pages of the section about the App Store.
enum AppStoreTab {
    static let notifications = ConsolePath("app-store")
    static let reconciliation = ConsolePath("app-store", "reconciliation")
    static let consumption = ConsolePath("app-store", "consumption")

    /// The links to all pages of the section, with a mark at the present one.
    static func links(present: ConsolePath?) -> HTML {
        Tabs.list("Pages about the App Store") {
            Tabs.link("Notifications", to: notifications, isPresent: present == notifications)
            Tabs.link("Reconciliation", to: reconciliation, isPresent: present == reconciliation)
            Tabs.link("Refund questions", to: consumption, isPresent: present == consumption)
        }
    }
}
