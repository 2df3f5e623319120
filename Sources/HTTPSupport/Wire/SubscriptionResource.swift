import Proofs

/// The terms of a subscription.
package struct SubscriptionResource: Codable, Sendable {
    /// A different price for the first periods.
    package struct Offer: Codable, Sendable {
        /// `introductory`, `promotional`, `offerCode` or `winBack`.
        package let offerType: String
        /// The identifier. Nil for an introductory offer.
        package let offerIdentifier: String?
        /// `free`, `payAsYouGo` or `payUpFront`.
        package let paymentMode: String
        /// ISO 8601, such as `P1M`.
        package let period: String
        package let periodCount: Int
        /// The price in milliunits of the product's currency. Nil for a free trial.
        package let price: Int64?
    }

    package let subscriptionGroupIdentifier: String
    /// The rank in the group. 1 is the highest.
    package let level: Int
    /// ISO 8601, such as `P1M`.
    package let period: String
    package let offers: [Offer]

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
