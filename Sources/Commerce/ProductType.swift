/// What kind of thing a product is, in the words of signed transactions (App Store Server API, `type`).
public enum ProductType: String, Sendable, Codable, CaseIterable {
    case consumable = "Consumable"
    case nonConsumable = "Non-Consumable"
    case nonRenewingSubscription = "Non-Renewing Subscription"
    case autoRenewableSubscription = "Auto-Renewable Subscription"
}
