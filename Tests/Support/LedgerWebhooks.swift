import Catalog
import Entitlements
import Features
import Ledger
import Proofs

extension Ledger {
    /// The webhooks of a ledger without verified proofs. The JSON of their messages is a service's.
    package func webhooks(
        of apps: Apps, clock: any WallClock,
        json: @escaping @Sendable (WebhookMessage.Content) throws -> [UInt8] = { _ in [] }
    ) throws -> WebhookService {
        WebhookService(
            EntitlementService(
                apps: apps, verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock), ledger: self,
                clock: clock), clock: clock, json: json)
    }
}
