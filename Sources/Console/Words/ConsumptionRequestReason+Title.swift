import Proofs

extension ConsumptionRequestReason {
    /// The reason of a customer for a refund request.
    var title: Phrase {
        switch self {
        case .unintendedPurchase: Phrase("Bought by mistake", "실수로 구매함")
        case .fulfillmentIssue: Phrase("Did not get what was bought", "구매한 것을 받지 못함")
        case .unsatisfiedWithPurchase: Phrase("Not satisfied", "만족하지 않음")
        case .legal: Phrase("A legal reason", "법적 사유")
        case .other: Phrase("Another reason", "기타")
        }
    }
}
