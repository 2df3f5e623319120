/// The type of a product, as signed transactions name it (App Store Server API, `type`).
public enum ProductType: String, Sendable, Codable, CaseIterable {
    case consumable = "Consumable"
    case nonConsumable = "Non-Consumable"
    case nonRenewingSubscription = "Non-Renewing Subscription"
    case autoRenewableSubscription = "Auto-Renewable Subscription"
}
