import Ledger

/// A durable queue in the ledger of messages to endpoints, which a sender empties.
///
/// The sender leases messages before the attempt, and records the results after it. A service that ends between the two sends
/// again after the lease.
package protocol DeliveryQueue: Sendable {
    associatedtype Endpoint: DeliveryEndpoint
    associatedtype Message: Sendable
    associatedtype Result: DeliveryResult

    var ledger: Ledger { get }

    /// The endpoints with due messages.
    func dueEndpoints() async throws -> [Endpoint]

    /// The due messages to an endpoint, those without an attempt first.
    ///
    /// - Returns: Nil if the endpoint has changed or was removed.
    func due(for endpoint: Endpoint, limit: Int) async throws -> [Message]?

    /// Leases due messages, so that no other service sends them.
    ///
    /// - Returns: The leased messages, without those that another service leased meanwhile.
    func lease(_ due: [Message]) async throws -> [Message]

    /// The request with a message, for an attempt now; nil for a message without content.
    func signed(_ message: Message, for endpoint: Endpoint) async throws -> SignedWebhook?

    /// The result of an attempt. Any outcome other than a status from 200 to 299 is retried.
    ///
    /// - Parameters:
    ///   - milliseconds: The duration of the attempt; nil if it is unknown.
    ///   - response: The beginning of the answer's body; nil for an answer without a body.
    func result(
        of message: Message, _ outcome: WebhookDelivery.Outcome, milliseconds: Int64?, response: WebhookResponse?
    ) -> Result

    /// Records the results of attempts. A message that another service leased meanwhile stays unchanged.
    func record(_ results: [Result]) async throws

    /// Deletes old messages.
    ///
    /// - Returns: True if there may be more of them.
    func deleteExpired() async throws -> Bool
}

/// A receiver of messages over HTTP.
package protocol DeliveryEndpoint: Sendable {
    var identifier: String { get }
    var url: String { get }
}

/// The result of an attempt to deliver a message.
package protocol DeliveryResult: Sendable {
    var outcome: WebhookDelivery.Outcome { get }
    /// True if the service makes no other attempt by itself.
    var isGivenUp: Bool { get }
    /// The endpoint and the message for logs, without content and without secrets.
    var logged: [(name: String, value: String)] { get }
}

extension WebhookService: DeliveryQueue {}

extension WebhookEndpoint: DeliveryEndpoint {}

extension WebhookResult: DeliveryResult {
    package var logged: [(name: String, value: String)] {
        [("webhook", delivery.endpointIdentifier), ("message", delivery.messageIdentifier)]
    }
}
