/// The response to the redemption of a proof. This is its JSON form.
public struct Redemption: Hashable, Sendable, Codable {
    /// The result for the whole proof.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
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
    public enum Result: String, Sendable, Codable, CaseIterable {
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

        /// The refusals in the order of their report: a proof with several is refused for the first of them.
        package static let refusals: [Result] = [
            .appAccountTokenMismatch, .transferTooSoon, .transactionConflict, .ownedByAnotherUser, .productUnknown,
        ]

        package var rule: ErrorRule {
            switch self {
            case .granted, .alreadyRedeemed, .revoked:
                ErrorRule(rawValue, .conflict, "The purchase is refused.", korean: "구매가 거절되었습니다.")
            case .ownedByAnotherUser:
                ErrorRule(
                    rawValue, .conflict, "Another user has redeemed the purchase and keeps it. Log in as that user.",
                    "Another user has redeemed the purchase and keeps it.",
                    "Ask the customer to log in as that user, or revoke the purchase there and grant the item here.",
                    korean: "이 구매는 다른 사용자에게 지급되었고 그 사용자가 계속 소유합니다.",
                    "고객에게 그 사용자로 로그인하도록 요청하거나, 그쪽의 구매를 회수하고 여기에 아이템을 지급하세요.")
            case .transferTooSoon:
                ErrorRule(
                    rawValue, .conflict, mayRetry: true,
                    "Another user owns the purchase since a recent transfer. Try again later.",
                    "The purchase was recently transferred to another user.",
                    "Wait until the pause of the ownership policy is over, then restore the purchase.",
                    korean: "이 구매는 최근에 다른 사용자에게 이전되었습니다.", "소유권 정책의 대기 시간이 끝난 뒤 구매를 복원하세요.")
            case .appAccountTokenMismatch:
                ErrorRule(
                    rawValue, .conflict,
                    "The purchase has another user's account token (appAccountToken). Redeem it for that user.",
                    "The purchase has another user's account token.",
                    "Ask the customer to log in as the user who bought it.",
                    korean: "구매에 다른 사용자의 계정 토큰이 있습니다.", "고객에게 구매한 사용자로 로그인하도록 요청하세요.")
            case .productUnknown:
                ErrorRule(
                    rawValue, .unprocessable, isOfOperator: true,
                    "The product is not in the service's catalog. Add it, then redeem the same proof again.",
                    "The catalog does not have the product.",
                    "Add the product to the catalog. The app's next restore redeems the purchase.",
                    korean: "카탈로그에 이 상품이 없습니다.", "상품을 카탈로그에 추가하세요. 앱에서 다음에 복원할 때 구매가 지급됩니다.")
            case .transactionConflict:
                ErrorRule(
                    rawValue, .conflict,
                    "The ledger has another product under the identifier of this transaction. Look at both in the user's "
                        + "story.",
                    "The ledger has another product under the identifier of this transaction.",
                    "Compare the proofs of both. If the customer has paid for this one, grant its item.",
                    korean: "원장에 이 거래의 식별자로 다른 상품이 있습니다.", "두 증명을 비교하세요. 고객이 이 상품의 값을 치렀다면 그 아이템을 지급하세요.")
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
