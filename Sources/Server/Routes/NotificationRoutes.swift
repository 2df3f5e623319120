import Entitlements
import Hummingbird
import Ledger

/// Where the App Store sends its notifications (App Store Server Notifications V2). It presents no key: what it sends is
/// signed, and nothing else is believed.
struct NotificationRoutes: Sendable {
    let service: EntitlementService
    let work: BlockingWork
    let commits: CommitQueue
    let metrics: ServiceMetrics
    /// Anybody may send here, and a proof that is worth nothing costs time too.
    let limit: ConcurrencyLimit

    /// The largest notification read, in bytes: Apple's are of some 20 KB.
    private static let maximumSize = 128 * 1024

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("notifications/apple") { request, context in
            do {
                // A place is taken only by what is whole.
                let bytes = try await JSONBody.collect(request, upTo: Self.maximumSize)
                let outcome = try await limit.run {
                    let body = try await JSONBody(bytes: bytes, parsedBy: work)
                    let payload = Array(try body.text("signedPayload").utf8)
                    let notification = try await work.process(payload.count) { try service.notification(in: payload) }
                    return try await commits.run { try service.receive(notification) }
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
