import Proofs

/// The terms of a subscription.
public struct SubscriptionResource: Codable, Sendable {
    /// A different price for the first periods.
    public struct Offer: Codable, Sendable {
        /// `introductory`, `promotional`, `offerCode` or `winBack`.
        public let offerType: String
        /// The identifier. Nil for an introductory offer.
        public let offerIdentifier: String?
        /// `free`, `payAsYouGo` or `payUpFront`.
        public let paymentMode: String
        /// ISO 8601, such as `P1M`.
        public let period: String
        public let periodCount: Int
        /// The price in milliunits of the product's currency. Nil for a free trial.
        public let price: Int64?
    }

    public let subscriptionGroupIdentifier: String
    /// The rank in the group. 1 is the highest.
    public let level: Int
    /// ISO 8601, such as `P1M`.
    public let period: String
    public let offers: [Offer]

    init(_ subscription: Subscription) {
        subscriptionGroupIdentifier = subscription.groupIdentifier
        level = subscription.level
        period = subscription.period.description
        offers = subscription.offers.map { offer in
            Offer(
                offerType: offer.kind.name, offerIdentifier: offer.identifier,
                paymentMode: offer.paymentMode.rawValue, period: offer.period.description,
                periodCount: offer.periodCount, price: offer.price?.milliunits)
        }
    }
}
