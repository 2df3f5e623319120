/// The subscription part of an auto-renewable subscription product (StoreKit's `Product.SubscriptionInfo`).
public struct Subscription: Hashable, Sendable {
    /// The group. A customer has one subscription per group at a time.
    public let groupIdentifier: String
    public let groupName: String
    /// The rank in the group. 1 is the highest.
    public let level: Int
    public let period: SubscriptionPeriod
    /// The offers in the catalog's order.
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
