import Proofs

/// The offer under which a payment for a subscription begins.
package enum OfferDecision: Hashable, Sendable {
    case standardPrice
    case offer(SubscriptionOffer)
    /// The payment fails.
    case refuse(SKErrorCode)

    /// - Parameters:
    /// - choice: The offer that the app requests; nil for an introductory offer, if the customer is eligible.
    /// - customer: New to the group, entitled by it, or entitled by it in the past.
    ///   - hadIntroductoryOffer: True if the customer used an introductory offer of the group. There is one for each
    ///     customer and group (Apple, "Implementing introductory offers").
    package init(
        _ choice: Payment.OfferChoice?,
        among offers: [SubscriptionOffer],
        customer: SubscriptionOffer.Eligibility,
        hadIntroductoryOffer: Bool
    ) {
        guard let choice else {
            // Without a request, only a new or returning customer gets an offer.
            let isEligible = customer != .existing && !hadIntroductoryOffer
            let introductory = isEligible ? offers.first(where: { $0.kind == .introductory }) : nil
            self = introductory.map { OfferDecision.offer($0) } ?? .standardPrice
            return
        }
        guard let offer = offers.first(where: { $0.kind == choice.kind && $0.identifier == choice.identifier }) else {
            self = .refuse(.invalidOfferIdentifier)
            return
        }
        let isEligible =
            switch choice.kind {
            case .introductory: !hadIntroductoryOffer
            case .promotional: customer != .new
            case .offerCode: true
            case .winBack: customer == .expired
            }
        let isForCustomer = offer.eligibility?.contains(customer) ?? true
        self = isEligible && isForCustomer ? .offer(offer) : .refuse(.ineligibleForOffer)
    }
}

extension CustomerSubscription? {
    /// The customer's eligibility for offers, from their subscription in the group.
    package var eligibility: SubscriptionOffer.Eligibility {
        map { $0.isEntitled ? SubscriptionOffer.Eligibility.existing : .expired } ?? .new
    }
}
