import Proofs

extension SubscriptionOffer.Kind {
    /// The name of the kind.
    var title: Phrase {
        switch self {
        case .introductory: Phrase("Introductory offer", "신규 구독 혜택")
        case .promotional: Phrase("Promotional offer", "프로모션 혜택")
        case .offerCode: Phrase("Offer code", "할인 코드")
        case .winBack: Phrase("Win-back offer", "재구독 혜택")
        }
    }
}
