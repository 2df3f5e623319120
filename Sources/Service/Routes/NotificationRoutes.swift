import Features
import HTTPSupport
import Hummingbird
import Ledger

/// The route to which the App Store sends its notifications (App Store Server Notifications V2).
///
/// The App Store presents no key. The route trusts only the signature.
struct NotificationRoutes: Sendable {
    let service: EntitlementService
    let metrics: ServiceMetrics
    /// The concurrency limit for proofs with an uncached chain. Verifying a chain is expensive, and anyone may send one.
    let uncachedChains: ConcurrencyLimit

    /// The largest notification read, in bytes: Apple's have about 20 KB.
    private static let maximumSize = 128 * 1024

    func add(to group: RouterGroup<ServiceContext>) {
        group.post("notifications/apple") { request, context in
            do {
                let notification = try await verified(
                    try await RequestBytes.collect(request, context, upTo: Self.maximumSize))
                guard case .recorded(let outcome) = try await service.claims.answer(notification.request) else {
                    throw Problem.unexpected
                }
                metrics.countNotification(outcome.rawValue)
                // Anyone can send a known notification again.
                context.logger.log(
                    level: outcome == .duplicate ? .debug : .info, "notification",
                    metadata: ["outcome": "\(outcome.rawValue)"])
                return try JSONAnswer.response(NotificationReceipt(outcome: outcome.rawValue))
            } catch {
                metrics.countNotification("refused", code: Problem.code(of: error))
                throw error
            }
        }
    }

    /// Verifies a notification. One with a cached chain bypasses the limit.
    private func verified(_ bytes: [UInt8]) async throws -> EntitlementService.VerifiedNotification {
        // Parsing happens here, so that junk does not occupy a thread before a genuine notification.
        let payload = try JSONBody(bytes: bytes).proof("signedPayload")
        let verify: @Sendable () throws -> EntitlementService.VerifiedNotification = { [service] in
            try service.notification(in: payload)
        }
        guard !service.hasCachedChain(payload) else { return try await BlockingWork.process(payload.count, verify) }
        return try await uncachedChains.run { try await BlockingWork.process(payload.count, verify) }
    }
}

/// The service's answer to a notification of the App Store.
package struct NotificationReceipt: Codable, Sendable {
    /// `granted`, `revoked`, `duplicate` or another outcome.
    package let outcome: String
}
