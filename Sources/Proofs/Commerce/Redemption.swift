/// The response to the redemption of a proof. This is its JSON form.
public struct Redemption: Hashable, Sendable, Codable {
    /// The result for the whole proof.
    public enum Outcome: String, Sendable, Codable {
        /// At least one transaction was new and was granted.
        case granted
        /// No transaction was new, and at least one was refunded or revoked.
        case revoked
        /// The same user had redeemed every transaction before.
        case unchanged
        /// No transaction was new, and some were refused.
        case partlyRefused
        /// The proof is authentic but contains no purchase.
        case nothingToRedeem
    }

    /// The result for one transaction.
    public struct Line: Hashable, Sendable, Codable {
        public let transactionId: String
        public let productId: String
        public let result: Result
        /// True if the device may finish the transaction because the service has recorded it permanently.
        public let mayFinish: Bool

        public init(transactionId: String, productId: String, result: Result) {
            self.transactionId = transactionId
            self.productId = productId
            self.result = result
            mayFinish = result.allowsFinish
        }
    }

    /// The result for a transaction, as a word.
    public enum Result: String, Sendable, Codable {
        case granted
        /// The same user had redeemed it before.
        case alreadyRedeemed
        /// It was refunded or revoked. The service has recorded it, and it grants nothing.
        case revoked
        /// Another user redeemed it, or its original purchase.
        case ownedByAnotherUser
        /// Another user redeemed it, and its last transfer is too recent for another one.
        case transferTooSoon
        /// The purchase has another user's account token.
        case appAccountTokenMismatch
        /// The catalog maps the product to no item.
        case productUnknown
        /// The ledger has another product under the identifier of the transaction.
        case transactionConflict

        /// True if the service has recorded the transaction, so the device may finish it.
        public var allowsFinish: Bool {
            switch self {
            case .granted, .alreadyRedeemed, .revoked: true
            case .ownedByAnotherUser, .transferTooSoon, .appAccountTokenMismatch, .productUnknown,
                .transactionConflict:
                false
            }
        }
    }

    public let outcome: Outcome
    /// One line for each transaction, in the proof's order.
    public let transactions: [Line]
    /// The items that the user owns now, in order. They include the items that everybody owns.
    public let items: [Item]

    public init(outcome: Outcome, transactions: [Line], items: [Item]) {
        self.outcome = outcome
        self.transactions = transactions
        self.items = items
    }
}
