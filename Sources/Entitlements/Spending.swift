import Commerce
import Ledger

/// A part of a user's balance that the team's back end has spent for them.
public struct Spending: Hashable, Sendable {
    /// The request that a back end may send again: another spending with its key is never made.
    public struct Request: Hashable, Sendable {
        /// Unique for the user, for ever, whichever API key sends it.
        public let idempotencyKey: String
        /// The SHA-256 of the request, which tells another request under the same key.
        public let digest: [UInt8]

        public init(idempotencyKey: String, digest: [UInt8]) {
            self.idempotencyKey = idempotencyKey
            self.digest = digest
        }
    }

    public let identifier: String
    public let balance: String
    /// 1 or more.
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
    /// The same request was answered before: the spending of then, and the amount that was left.
    case repeated(Spending, left: Int)
    /// Another request was sent under the same idempotency key.
    case keyReused
    /// The amount that the user has.
    case tooLow(Int)
}
