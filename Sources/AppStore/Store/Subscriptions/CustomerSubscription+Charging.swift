import Proofs

extension CustomerSubscription {
    /// Begins a period of a product, whatever the state before.
    ///
    /// - Parameters:
    /// - newOffer: An offer that begins with this period; nil to continue the present one, if the product is the same.
    /// - start: The start of the paid period.
    /// - Returns: The charge for the period.
    mutating func begin(
        _ product: Product,
        _ subscription: Subscription,
        offer newOffer: SubscriptionOffer?,
        reason: TransactionReason,
        at start: Timestamp,
        timeRate: TimeRate
    ) -> SubscriptionCharge {
        if productIdentifier != product.productIdentifier {
            agreedPrice = nil
            priceIncrease = nil
            offer = nil
        }
        if let newOffer {
            offer = OfferInUse(offer: newOffer, periodsLeft: newOffer.chargeCount)
        }
        productIdentifier = product.productIdentifier
        autoRenewProductIdentifier = product.productIdentifier
        state = .subscribed
        let applied = consumeOffer()
        let period = applied?.period ?? subscription.period
        expiresDate = timeRate.end(of: period, from: start, dayOfMonth: dayOfMonth)
        // After a period of days or weeks, months are counted from its end.
        if period.unit == .day || period.unit == .week { dayOfMonth = expiresDate.dayOfMonth }
        let standard = agreedPrice ?? product.price
        return SubscriptionCharge(
            productIdentifier: product.productIdentifier,
            price: applied.map { $0.price ?? Price(milliunits: 0, currency: standard.currency) } ?? standard,
            offer: applied, reason: reason, startDate: start, expiresDate: expiresDate)
    }

    /// Takes the offer for the next period; nil for the standard price.
    private mutating func consumeOffer() -> SubscriptionOffer? {
        guard var used = offer, used.periodsLeft > 0 else {
            offer = nil
            return nil
        }
        used.periodsLeft -= 1
        offer = used
        return used.offer
    }

    /// The price and the offer of the next renewal.
    func renewalTerms(_ terms: SubscriptionTerms) -> (price: Price, offer: SubscriptionOffer?)? {
        guard let product = terms.product(autoRenewProductIdentifier) else { return nil }
        let isSame = autoRenewProductIdentifier == productIdentifier
        let next = nextOffer ?? (isSame ? offer.flatMap { $0.periodsLeft > 0 ? $0.offer : nil } : nil)
        let standard = (isSame ? priceIncrease?.price ?? agreedPrice : nil) ?? product.price
        let milliunits = next.map { $0.price?.milliunits ?? 0 } ?? standard.milliunits
        return (Price(milliunits: milliunits, currency: terms.currency), next)
    }
}

extension SubscriptionOffer {
    /// The number of charges under the offer: one, unless each period is paid by itself.
    var chargeCount: Int { paymentMode == .payAsYouGo ? periodCount : 1 }
}
