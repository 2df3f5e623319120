import Entitlements
import Hummingbird
import Ledger

/// Where the App Store sends its notifications (App Store Server Notifications V2). It presents no key: what it sends is
/// signed, and nothing else is believed.
struct NotificationRoutes: Sendable {
    let service: EntitlementService
    let work: BlockingWork
    let metrics: ServiceMetrics
    /// Anybody may send here, and a proof that is worth nothing costs time too.
    let limit: ConcurrencyLimit

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("notifications/apple") { request, context in
            let payload = Array(try await JSONBody(request).text("signedPayload").utf8)
            do {
                let outcome = try await limit.run {
                    try await work.run { try service.receive(notification: payload) }
                }
                metrics.countNotification(outcome.rawValue)
                context.logger.info("notification", metadata: ["outcome": "\(outcome.rawValue)"])
                return try JSONAnswer.response(Receipt(outcome: outcome))
            } catch {
                metrics.countNotification("refused", code: (Problem(error) ?? .unexpected).code)
                throw error
            }
        }
    }

    private struct Receipt: Encodable {
        let outcome: NotificationOutcome
    }
}
