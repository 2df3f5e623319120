import Proofs

/// Events that the developer or the App Store causes.
extension CustomerSubscription {
    /// The number of extensions allowed in 365 days (Apple, "Extend a Subscription Renewal Date").
    static let extensionsAYear = 2

    /// Announces a higher price, from the next renewal on.
    package mutating func requestPriceIncrease(
        to price: Price,
        needsConsent: Bool,
        _ terms: SubscriptionTerms
    ) throws(StoreError) -> [SubscriptionEffect] {
        let present = agreedPrice ?? terms.product(productIdentifier)?.price
        guard price.milliunits > present?.milliunits ?? 0 else { throw invalid("already costs as much or more") }
        guard state == .subscribed, isAutoRenewing else { throw invalid("does not renew, so its price cannot rise") }
        priceIncrease = PriceIncrease(price: price, isAccepted: !needsConsent)
        return [.notify(.priceIncrease, needsConsent ? .pending : .accepted)]
    }

    /// The reason why a renewal date cannot be extended.
    package enum ExtensionRefusal: Error, Equatable {
        case ineligible
        case maximumReached
    }

    package mutating func extendRenewalDate(
        byDays days: Int,
        at now: Timestamp
    ) throws(ExtensionRefusal) -> [SubscriptionEffect] {
        guard state == .subscribed, isAutoRenewing, offer?.offer.paymentMode != .freeTrial else { throw .ineligible }
        let recent = extensionDates.filter { $0 > now.adding(days: -365) }
        guard recent.count < Self.extensionsAYear else { throw .maximumReached }
        extensionDates = recent + [now]
        expiresDate = expiresDate.adding(days: Int64(days))
        dayOfMonth = expiresDate.dayOfMonth
        return [.setExpiresDate(expiresDate)]
    }

    /// Ends the paid period: it was refunded, or its family sharing ended.
    package mutating func revoke() {
        state = .revoked
        isAutoRenewing = false
        priceIncrease = nil
        nextOffer = nil
    }

    /// Reinstates the subscription after a reversed refund, until the end of the paid period. It does not renew.
    package mutating func reinstate(at now: Timestamp) {
        guard state == .revoked else { return }
        state = expiresDate > now ? .subscribed : .expired(.customerCancelled)
    }
}
