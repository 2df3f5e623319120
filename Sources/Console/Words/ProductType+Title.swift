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
