import Ledger
import Proofs

/// A durable queue in the ledger of messages to endpoints, which a sender empties.
///
/// The sender leases messages before the attempt, and records the results after it. A service that ends between the two sends
/// again after the lease.
package protocol DeliveryQueue: Sendable {
    associatedtype Endpoint: DeliveryEndpoint
    associatedtype Message: DeliveryMessage

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
    ) -> DeliveryResult<Message>

    /// Records the results of attempts. A message that another service leased meanwhile stays unchanged.
    func record(_ results: [DeliveryResult<Message>]) async throws

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

/// A message on its way to an endpoint.
package protocol DeliveryMessage: Sendable {
    /// The event that the message tells of. Its messages are sent one after the other.
    var event: String { get }
    /// The endpoint and the message for logs, without content and without secrets.
    var logged: [(name: String, value: String)] { get }
}

package struct DeliveryResult<Message: DeliveryMessage>: Sendable {
    /// The message when it was leased.
    package let message: Message
    package let outcome: WebhookDelivery.Outcome
    /// The time of the next attempt; nil if the message was delivered or given up.
    let nextAttemptAt: Timestamp?
    /// The duration of the attempt; nil if it is unknown.
    let milliseconds: Int64?
    /// The beginning of the answer's body; nil for an answer without a body.
    let response: WebhookResponse?

    package init(
        of message: Message, _ outcome: WebhookDelivery.Outcome, nextAttemptAt: Timestamp?,
        milliseconds: Int64? = nil, response: WebhookResponse? = nil
    ) {
        (self.message, self.outcome, self.nextAttemptAt) = (message, outcome, nextAttemptAt)
        (self.milliseconds, self.response) = (milliseconds, response)
    }

    /// True if the service makes no other attempt by itself.
    package var isGivenUp: Bool { !outcome.isDelivery && nextAttemptAt == nil }
}

extension WebhookService: DeliveryQueue {}

extension WebhookEndpoint: DeliveryEndpoint {}

extension WebhookDelivery: DeliveryMessage {
    package var event: String { "\(user) \(number)" }

    package var logged: [(name: String, value: String)] {
        [("webhook", endpointIdentifier), ("message", messageIdentifier)]
    }
}

/// The beginning of the body of a receiver's answer, as text.
package struct WebhookResponse: Hashable, Sendable {
    /// The largest number of bytes that are read of a body, and of the text in UTF-8.
    package static let maximumLength = 1024

    package let text: String

    /// - Parameter bytes: The beginning of the body. Invalid UTF-8 and NUL become the replacement character.
    /// - Returns: Nil for an empty body.
    package init?(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return nil }
        var text = ""
        var length = 0
        for scalar in String(decoding: bytes.prefix(Self.maximumLength), as: UTF8.self).unicodeScalars {
            // PostgreSQL's texts have no NUL.
            let kept: Unicode.Scalar = scalar == "\0" ? "\u{FFFD}" : scalar
            // A replacement is longer than the byte that it replaces.
            length += String(kept).utf8.count
            guard length <= Self.maximumLength else { break }
            text.unicodeScalars.append(kept)
        }
        self.text = text
    }
}

/// The retry schedule of failed deliveries: growing delays for three days.
package enum WebhookSchedule {
    package static let delays: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    /// A time that exceeds each pause with its jitter, in seconds.
    static let longestPause: Int64 = 2 * 86_400
}
