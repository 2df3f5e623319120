import Entitlements
import Hummingbird
import Ledger

/// Where the App Store sends its notifications (App Store Server Notifications V2). It presents no key: what it sends is
/// signed, and nothing else is believed.
struct NotificationRoutes: Sendable {
    let service: EntitlementService
    let work: BlockingWork

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("notifications/apple") { request, context in
            let payload = Array(try await JSONBody(request).text("signedPayload").utf8)
            let outcome = try await work.run { try service.receive(notification: payload) }
            context.logger.info("notification", metadata: ["outcome": "\(outcome.rawValue)"])
            return try JSONAnswer.response(Receipt(outcome: outcome))
        }
    }

    private struct Receipt: Encodable {
        let outcome: NotificationOutcome
    }
}
