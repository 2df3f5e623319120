/// What makes a product an auto-renewable subscription (StoreKit's `Product.SubscriptionInfo`).
public struct Subscription: Hashable, Sendable {
    /// Of which a customer has one subscription at a time.
    public let groupIdentifier: String
    public let groupName: String
    /// Its rank in the group; 1 is the highest.
    public let level: Int
    public let period: SubscriptionPeriod
    /// In the catalog's order.
    public let offers: [SubscriptionOffer]

    public init(
        groupIdentifier: String,
        groupName: String,
        level: Int,
        period: SubscriptionPeriod,
        offers: [SubscriptionOffer]
    ) {
        self.groupIdentifier = groupIdentifier
        self.groupName = groupName
        self.level = level
        self.period = period
        self.offers = offers
    }
}
