import Ledger
import Proofs

/// An amount of a user's balance that the team's back end has spent.
public struct Spending: Hashable, Sendable {
    /// A request with an idempotency key. A retry makes no second spending.
    public struct Request: Hashable, Sendable {
        /// The idempotency key. It is unique for the user forever, across all API keys.
        public let idempotencyKey: String
        /// The SHA-256 of the request, which detects another request under the same key.
        public let digest: [UInt8]

        public init(idempotencyKey: String, digest: [UInt8]) {
            self.idempotencyKey = idempotencyKey
            self.digest = digest
        }
    }

    public let identifier: String
    public let balance: String
    /// The amount, at least 1.
    public let amount: Int
    /// The purpose, in the team's own words.
    public let reason: String
    /// The identifier of the API key.
    public let spentBy: String
    public let spentAt: Timestamp
    /// Nil for a request without an idempotency key.
    public let request: Request?

    public init(
        identifier: String,
        balance: String,
        amount: Int,
        reason: String,
        spentBy: String,
        spentAt: Timestamp,
        request: Request? = nil
    ) {
        self.identifier = identifier
        self.balance = balance
        self.amount = amount
        self.reason = reason
        self.spentBy = spentBy
        self.spentAt = spentAt
        self.request = request
    }
}

/// The result of a spending.
public enum SpendingAnswer: Hashable, Sendable {
    case spent(left: Int)
    /// The same request was answered before, with this spending and the amount left after it.
    case repeated(Spending, left: Int)
    /// Another request was sent under the same idempotency key.
    case keyReused
    /// The balance of the user.
    case tooLow(Int)
}
