import Commerce
import Ledger

/// A message on its way to an endpoint: one entry of a user's audit log.
///
/// The message itself is kept nowhere but in the log, so that what is erased there is sent no more.
public struct WebhookDelivery: Hashable, Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// It is tried at some time, for the first time or again.
        case pending
        case delivered
        /// It was tried as often as it is; only somebody's hand tries it again.
        case failed
    }

    /// How an attempt has ended.
    public enum Outcome: Hashable, Sendable {
        /// The receiver has answered.
        case answered(status: Int)
        /// It has not; the code says why.
        case unanswered(code: String)

        /// One of a few, whatever receivers answer.
        public var code: String {
            switch self {
            case .answered(let status): "status\(status / 100)xx"
            case .unanswered(let code): code
            }
        }
    }

    public struct Attempt: Hashable, Sendable {
        public let at: Timestamp
        /// nil while nobody knows: it is under way, or was when the service ended.
        public let outcome: Outcome?
    }

    public let endpointIdentifier: String
    /// The message's, which it keeps however often it is sent.
    public let messageIdentifier: String
    /// The user's, as the ledger has it: the first version took names that are none today, and nobody's message stays behind.
    public let issuer: String
    public let name: String
    /// Of the entry, in the user's log: their order, and dense but for what is no message.
    public let number: Int64
    public let entry: AuditEntry
    public let state: State
    /// How often it was tried since it was made, or replayed.
    public let attempts: Int
    /// nil where it is tried no more.
    public let nextAttemptAt: Timestamp?
    /// nil where there was none.
    public let lastAttempt: Attempt?

    /// What tells it from all others.
    struct Key: Hashable {
        let user: Int64
        let number: Int64
        let endpoint: String
    }

    let key: Key
    /// The number of the last attempt among all; 0 if there was none.
    let lastAttemptNumber: Int64
}
