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
    /// The offers of the catalog that cannot be sold yet.
    public let unfinishedOffers: [UnfinishedOffer]

    /// An offer that its author has not finished, such as one that Xcode has just created.
    public struct UnfinishedOffer: Hashable, Sendable {
        public let kind: SubscriptionOffer.Kind
        /// Nil for an introductory offer, or if the offer has none yet.
        public let identifier: String?
        /// The key of the offer without a value.
        public let key: String

        public init(kind: SubscriptionOffer.Kind, identifier: String?, key: String) {
            self.kind = kind
            self.identifier = identifier
            self.key = key
        }
    }

    public init(
        groupIdentifier: String,
        groupName: String,
        level: Int,
        period: SubscriptionPeriod,
        offers: [SubscriptionOffer],
        unfinishedOffers: [UnfinishedOffer] = []
    ) {
        self.groupIdentifier = groupIdentifier
        self.groupName = groupName
        self.level = level
        self.period = period
        self.offers = offers
        self.unfinishedOffers = unfinishedOffers
    }
}
