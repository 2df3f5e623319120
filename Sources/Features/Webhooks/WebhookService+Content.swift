import Ledger
import Proofs

/// The messages of deliveries, in the format of their endpoint.
extension WebhookService {
    /// The contents of deliveries, each nil for an event without a message. No version writes such a delivery.
    ///
    /// An event of RevenueCat states facts of the ledger, as of now. Later attempts may know more.
    package func contents(
        of deliveries: [WebhookDelivery],
        to endpoint: WebhookEndpoint
    ) async throws -> [WebhookContent?] {
        switch endpoint.format {
        case .till:
            return deliveries.map { delivery in
                WebhookMessage.Kind(delivery.entry.event).map { .till(WebhookMessage(delivery, $0)) }
            }
        case .revenueCat:
            let (catalogs, now) = (apps.catalogs, clock.now())
            return try await ledger.read { transaction in
                try deliveries.map { delivery in
                    RevenueCatEvent(try transaction.revenueCatFacts(of: delivery, catalogs, at: now))
                        .map { .revenueCat($0) }
                }
            }
        }
    }

    /// The content of a delivery; nil for an event without a message.
    package func content(of delivery: WebhookDelivery, to endpoint: WebhookEndpoint) async throws -> WebhookContent? {
        try await contents(of: [delivery], to: endpoint)[0]
    }

    /// The signed message of a delivery, for an attempt now.
    package func signed(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        let content = try await content(of: delivery, to: endpoint)
        let now = clock.now()
        return try content.map {
            SignedWebhook(
                try $0.body(), identifier: delivery.messageIdentifier, secrets: endpoint.secrets(at: now),
                authorization: endpoint.authorization, at: now)
        }
    }

    /// The message of a delivery as it would be sent now, for people who see neither a signature nor the authorization.
    package func unsigned(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) async throws -> SignedWebhook? {
        try await content(of: delivery, to: endpoint).map {
            SignedWebhook(
                try $0.body(), identifier: delivery.messageIdentifier, secrets: [],
                authorization: endpoint.authorization.flatMap { _ in WebhookAuthorization("hidden") }, at: clock.now())
        }
    }
}
