import Proofs

/// Events that the customer causes.
extension CustomerSubscription {
    /// Buys the first product of the group.
    package mutating func buyFirst(
        _ product: Product,
        _ subscription: Subscription,
        offer: SubscriptionOffer?,
        at now: Timestamp,
        _ terms: SubscriptionTerms
    ) -> [SubscriptionEffect] {
        let charge = begin(product, subscription, offer: offer, reason: .purchase, at: now, timeRate: terms.timeRate)
        return [.charge(charge), .notify(.subscribed, .initialBuy)]
    }

    /// Buys another product of the group, or the same one again.
    ///
    /// A higher product, or one of the same level and period, replaces the present one at once. Any other waits for the
    /// renewal (Apple, "Offering a subscription group": upgrades, downgrades and crossgrades).
    package mutating func buy(
        _ product: Product,
        _ subscription: Subscription,
        offer: SubscriptionOffer?,
        at now: Timestamp,
        _ terms: SubscriptionTerms
    ) -> [SubscriptionEffect] {
        let wasRenewing = isAutoRenewing
        isAutoRenewing = true
        hasDeclinedPriceIncrease = false
        guard state == .subscribed else {
            // The subscription begins anew, at the present price.
            (self.offer, nextOffer, agreedPrice, priceIncrease) = (nil, nil, nil, nil)
            startDate = now
            dayOfMonth = now.dayOfMonth
            return [
                .charge(
                    begin(product, subscription, offer: offer, reason: .purchase, at: now, timeRate: terms.timeRate)),
                .notify(.subscribed, .resubscribe),
            ]
        }
        if product.productIdentifier == productIdentifier {
            return keep(offer: offer, wasRenewing: wasRenewing)
        }
        let present = terms.product(productIdentifier)?.subscription
        let isImmediate =
            present.map {
                subscription.level < $0.level
                    || (subscription.level == $0.level && subscription.period == $0.period)
            } ?? true
        guard isImmediate else {
            autoRenewProductIdentifier = product.productIdentifier
            priceIncrease = nil
            nextOffer = offer
            return [.notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade)]
        }
        nextOffer = nil
        dayOfMonth = now.dayOfMonth
        return [
            .markUpgraded,
            .charge(begin(product, subscription, offer: offer, reason: .purchase, at: now, timeRate: terms.timeRate)),
            .notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade),
        ]
    }

    /// Buys the present product again: redeems an offer, cancels a pending change or turns renewal on.
    private mutating func keep(offer: SubscriptionOffer?, wasRenewing: Bool) -> [SubscriptionEffect] {
        let hadChange = autoRenewProductIdentifier != productIdentifier
        autoRenewProductIdentifier = productIdentifier
        nextOffer = offer
        if offer != nil { return [.notify(.offerRedeemed, nil)] }
        if hadChange { return [.notify(.didChangeRenewalPref, nil)] }
        return wasRenewing ? [] : [.notify(.didChangeRenewalStatus, .autoRenewEnabled)]
    }

    package mutating func setAutoRenew(_ isOn: Bool) throws(StoreError) -> [SubscriptionEffect] {
        switch state {
        case .expired, .revoked: throw invalid("has ended; buy it again")
        case .subscribed, .inGracePeriod, .inBillingRetryPeriod: break
        }
        guard isOn != isAutoRenewing else { return [] }
        isAutoRenewing = isOn
        guard !isOn else {
            hasDeclinedPriceIncrease = false
            return [.notify(.didChangeRenewalStatus, .autoRenewEnabled)]
        }
        let told = [SubscriptionEffect.notify(.didChangeRenewalStatus, .autoRenewDisabled)]
        // A cancelled subscription that could not be charged ends now.
        return state == .subscribed ? told : told + expire(.customerCancelled, .voluntary)
    }

    package mutating func consentToPriceIncrease() throws(StoreError) -> [SubscriptionEffect] {
        guard var increase = priceIncrease, !increase.isAccepted else { throw invalid("has no price increase pending") }
        increase.isAccepted = true
        priceIncrease = increase
        return [.notify(.priceIncrease, .accepted)]
    }

    package mutating func declinePriceIncrease() throws(StoreError) -> [SubscriptionEffect] {
        guard let increase = priceIncrease, !increase.isAccepted else { throw invalid("has no price increase pending") }
        priceIncrease = nil
        let effects = try setAutoRenew(false)
        hasDeclinedPriceIncrease = true
        return effects
    }
}
