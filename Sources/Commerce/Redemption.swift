/// What the service answers when a proof is redeemed; it crosses the wire as JSON in these words.
public struct Redemption: Hashable, Sendable, Codable {
    /// What became of the proof as a whole.
    public enum Outcome: String, Sendable, Codable {
        /// At least one transaction was new and is granted now.
        case granted
        /// None was new, and at least one has been taken back: refunded or revoked.
        case revoked
        /// Everything in the proof had been redeemed before by the same user.
        case unchanged
        /// None was new, and some were refused.
        case partlyRefused
        /// The proof is authentic and holds no purchase.
        case nothingToRedeem
    }

    /// What became of one transaction.
    public struct Line: Hashable, Sendable, Codable {
        public let transactionId: String
        public let productId: String
        public let result: Result
        /// Whether the device may finish the transaction: what it bought is recorded for good.
        public let mayFinish: Bool

        public init(transactionId: String, productId: String, result: Result) {
            self.transactionId = transactionId
            self.productId = productId
            self.result = result
            mayFinish = result.allowsFinish
        }
    }

    /// What became of a transaction, as a word.
    public enum Result: String, Sendable, Codable {
        case granted
        /// The same user redeemed it before.
        case alreadyRedeemed
        /// Refunded or revoked: recorded, and it grants nothing.
        case revoked
        /// Another user redeemed it, or the purchase it repeats.
        case ownedByAnotherUser
        /// Another user redeemed it, and it was moved too short a time ago to be moved again.
        case transferTooSoon
        /// The purchase was made under another user's account token.
        case appAccountTokenMismatch
        /// The catalog maps the product to no item.
        case productUnknown

        /// Whether the service has taken care of the transaction, so that the device may finish it.
        public var allowsFinish: Bool {
            switch self {
            case .granted, .alreadyRedeemed, .revoked: true
            case .ownedByAnotherUser, .transferTooSoon, .appAccountTokenMismatch, .productUnknown: false
            }
        }
    }

    public let outcome: Outcome
    /// One line for each transaction, in the proof's order.
    public let transactions: [Line]
    /// What the user owns now, the items everybody owns included, in order.
    public let items: [Item]

    public init(outcome: Outcome, transactions: [Line], items: [Item]) {
        self.outcome = outcome
        self.transactions = transactions
        self.items = items
    }
}
