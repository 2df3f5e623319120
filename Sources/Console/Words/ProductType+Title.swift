import Proofs

extension ProductType {
    /// The name of the type, as in App Store Connect.
    var title: Phrase {
        switch self {
        case .consumable: Phrase("Consumable", "소모품")
        case .nonConsumable: Phrase("Non-consumable", "비소모품")
        case .nonRenewingSubscription: Phrase("Non-renewing subscription", "비갱신 구독")
        case .autoRenewableSubscription: Phrase("Auto-renewable subscription", "자동 갱신 구독")
        }
    }
}

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

extension SubscriptionPeriod {
    /// The length of a number of periods, such as "3 months".
    func words(times count: Int = 1) -> Phrase {
        let number = value * count
        let plural = number == 1 ? "" : "s"
        return switch unit {
        case .day: Phrase("\(number) day\(plural)", "\(number)일")
        case .week: Phrase("\(number) week\(plural)", "\(number)주")
        case .month: Phrase("\(number) month\(plural)", "\(number)개월")
        case .year: Phrase("\(number) year\(plural)", "\(number)년")
        }
    }
}
