import Ledger
import Proofs

/// The delivery of an entry of a user's audit log to an endpoint.
///
/// Only the audit log contains the content of the message, so that erased content is never sent.
package struct WebhookDelivery: Hashable, Sendable {
    package enum State: String, Sendable, CaseIterable {
        /// The service will make the first or another attempt.
        case pending
        case delivered
        /// All attempts failed. Only a replay makes another one.
        case failed
    }

    /// The outcome of an attempt.
    package enum Outcome: Hashable, Sendable {
        /// The receiver answered.
        case answered(status: Int)
        /// The receiver did not answer. The code is the reason.
        case unanswered(code: String)

        /// A code from a small set, for metrics and logs.
        package var code: String {
            switch self {
            case .answered(let status): "status\(status / 100)xx"
            case .unanswered(let code): code
            }
        }
    }

    package struct Attempt: Hashable, Sendable {
        /// The number of the attempt since the message was created. A replay continues the numbers.
        package let number: Int64
        package let at: Timestamp
        /// The outcome; nil if the attempt has not ended, or if the service stopped during it.
        package let outcome: Outcome?
        /// The duration; nil if the attempt has not ended.
        package let milliseconds: Int64?
        /// The beginning of the answer's body, at most `WebhookResponse.maximumLength` bytes; nil for an answer without a body.
        package let response: String?
    }

    package let endpointIdentifier: String
    /// The identifier of the message, the same in each attempt.
    package let messageIdentifier: String
    /// The user's issuer. It is not checked, so that a damaged name does not block webhooks.
    package let issuer: String
    /// The user's name, not checked either.
    package let name: String
    /// The number of the entry in the user's audit log. It gives the order of messages, with gaps for entries without a
    /// message.
    package let number: Int64
    package let entry: AuditEntry
    /// The name of the API key that acted; nil for another actor, and if the ledger does not have the key.
    package let actorName: String?
    package let state: State
    /// The number of attempts since the message was created or replayed.
    package let attempts: Int
    /// The time of the next attempt; nil if there is none.
    package let nextAttemptAt: Timestamp?
    /// The last attempt; nil if there was none.
    package let lastAttempt: Attempt?

    /// The primary key of a delivery.
    struct Key: Hashable {
        let user: Int64
        let number: Int64
        let endpoint: String
    }

    let key: Key
    /// The number of the last attempt since the message was created; 0 if there was none.
    let lastAttemptNumber: Int64
}
