import Catalog
import Proofs

/// Events that are due, and events that a tester brings forward.
extension CustomerSubscription {
    package mutating func becomeDue(_ terms: SubscriptionTerms) -> [SubscriptionEffect] {
        switch state {
        case .subscribed: endPeriod(terms)
        case .inGracePeriod(_, let retryUntil):
            enter(.inBillingRetryPeriod(until: retryUntil), telling: .gracePeriodExpired)
        case .inBillingRetryPeriod: expire(.billingError, .billingRetry)
        case .expired, .revoked: []
        }
    }

    private mutating func endPeriod(_ terms: SubscriptionTerms) -> [SubscriptionEffect] {
        guard willAutoRenew else {
            return expire(endingIntent, hasDeclinedPriceIncrease ? .priceIncrease : .voluntary)
        }
        dropUnacceptedItems()
        guard let product = product(nextProductIdentifier, terms), let subscription = product.subscription,
            isNextPeriodSold(of: subscription)
        else {
            return expire(.productNotAvailable, .productNotForSale)
        }
        if unfinishedCommitment == nil, let priceIncrease, !priceIncrease.isAccepted {
            return expire(.customerDidNotConsentToPriceIncrease, .priceIncrease)
        }
        guard !terms.isBillingFailing else {
            return failToRenew(subscription, terms, hasGracePeriod: terms.isGracePeriodEnabled)
        }
        return [.charge(renew(product, subscription, at: expiresDate, terms)), .notify(.didRenew, nil)]
            + announceItemPrices()
    }

    /// Begins the attempts to charge the next period. Under a commitment, there is no grace period, and they last longer.
    private mutating func failToRenew(
        _ subscription: Subscription,
        _ terms: SubscriptionTerms,
        hasGracePeriod: Bool
    ) -> [SubscriptionEffect] {
        guard !isCommitted else {
            let until = expiresDate.adding(seconds: terms.timeRate.commitmentBillingRetrySeconds)
            return enter(.inBillingRetryPeriod(until: until), telling: .didFailToRenew)
        }
        // A fulfilled commitment, after which the subscription is billed up front.
        commitment = nil
        let retryUntil = expiresDate.adding(seconds: terms.timeRate.billingRetrySeconds)
        guard hasGracePeriod else {
            return enter(.inBillingRetryPeriod(until: retryUntil), telling: .didFailToRenew)
        }
        let until = expiresDate.adding(seconds: terms.timeRate.gracePeriodSeconds(for: subscription.period))
        return enter(
            .inGracePeriod(until: min(until, retryUntil), retryUntil: retryUntil), telling: .didFailToRenew,
            .gracePeriod)
    }

    private mutating func renew(
        _ product: Product,
        _ subscription: Subscription,
        at start: Timestamp,
        _ terms: SubscriptionTerms
    ) -> SubscriptionCharge {
        if unfinishedCommitment == nil, let increase = priceIncrease {
            // The items have their own prices.
            agreedPrice = advancedCommerceCharge == nil ? increase.price : nil
            priceIncrease = nil
        }
        beginRenewalContent()
        let accepted = acceptedOffer
        if accepted != nil { nextOffer = nil }
        return begin(
            product, subscription, seats: renewalQuantity, billed: nextBillingPlanType, offer: accepted,
            reason: .renewal, at: start, terms)
    }

    /// Charges the customer after a billing issue. In the grace period, the new period follows the last one. Later, it begins
    /// now, with another day of the month.
    package mutating func recover(_ terms: SubscriptionTerms) throws(StoreError) -> [SubscriptionEffect] {
        let start: Timestamp
        switch state {
        case .inGracePeriod: start = expiresDate
        case .inBillingRetryPeriod: start = terms.now
        case .subscribed, .expired, .revoked: throw invalid("has no billing issue to resolve")
        }
        let (product, subscription) = try renewing(terms)
        if start != expiresDate {
            startDate = start
            dayOfMonth = start.dayOfMonth
        }
        return [
            .charge(renew(product, subscription, at: start, terms)), .notify(.didRenew, .billingRecovery),
        ] + announceItemPrices()
    }

    /// Renews early (`forceRenewalOfSubscription`).
    package mutating func forceRenewal(_ terms: SubscriptionTerms) throws(StoreError) -> [SubscriptionEffect] {
        guard state == .subscribed else { throw invalid("is not active, so it cannot renew") }
        guard priceIncrease?.isAccepted ?? true else { throw invalid("waits for consent to a price increase") }
        let (product, subscription) = try renewing(terms)
        dayOfMonth = terms.now.dayOfMonth
        if unfinishedCommitment == nil {
            isAutoRenewing = true
            hasDeclinedPriceIncrease = false
        }
        return [.charge(renew(product, subscription, at: terms.now, terms)), .notify(.didRenew, nil)]
            + announceItemPrices()
    }

    /// Ends the paid period early with a charge that fails.
    ///
    /// - Parameter hasGracePeriod: True if the customer keeps the subscription for a while.
    mutating func failRenewal(
        hasGracePeriod: Bool,
        _ terms: SubscriptionTerms
    ) throws(StoreError) -> [SubscriptionEffect] {
        guard state == .subscribed, willAutoRenew else { throw invalid("does not renew, so no charge can fail") }
        guard priceIncrease?.isAccepted ?? true else { throw invalid("waits for consent to a price increase") }
        let (_, subscription) = try renewing(terms)
        guard !hasGracePeriod || !isCommitted else {
            throw invalid("is billed monthly under a commitment, which has no grace period")
        }
        expiresDate = min(expiresDate, terms.now)
        return [.setExpiresDate(expiresDate)] + failToRenew(subscription, terms, hasGracePeriod: hasGracePeriod)
    }

    /// Ends early (`expireSubscription`).
    package mutating func expireNow(at now: Timestamp) throws(StoreError) -> [SubscriptionEffect] {
        guard isEntitled else { throw invalid("has ended already") }
        expiresDate = min(expiresDate, now)
        return [.setExpiresDate(expiresDate)] + expire(.customerCancelled, .voluntary)
    }

    mutating func expire(_ intent: ExpirationIntent, _ subtype: Subtype) -> [SubscriptionEffect] {
        isAutoRenewing = false
        priceIncrease = nil
        nextOffer = nil
        return enter(.expired(intent), telling: .expired, subtype)
    }

    private mutating func enter(
        _ state: State,
        telling type: NotificationTypeV2,
        _ subtype: Subtype? = nil
    ) -> [SubscriptionEffect] {
        self.state = state
        return [.notify(type, subtype)]
    }

    /// The product of the next renewal.
    private func renewing(_ terms: SubscriptionTerms) throws(StoreError) -> (Product, Subscription) {
        guard let product = product(nextProductIdentifier, terms), let subscription = product.subscription,
            isNextPeriodSold(of: subscription)
        else { throw .productNotFound(nextProductIdentifier) }
        return (product, subscription)
    }

    func invalid(_ reason: String) -> StoreError {
        .invalidAction("The subscription \(originalTransactionIdentifier) \(reason).")
    }
}
