import Catalog
import Foundation
import HTTPSupport
import Proofs

/// One customer's subscription in a group: its state, its next renewal and its next due date
/// (StoreKit, `Product.SubscriptionInfo.Status`).
///
/// A state machine without I/O. Each event is a method that changes the subscription and returns the effects for the store.
package struct CustomerSubscription: Hashable, Sendable, Codable {
    /// The state of a subscription (StoreKit, `RenewalState`).
    package enum State: Hashable, Sendable, Codable {
        case subscribed
        /// The charge failed, but the customer keeps the subscription until a date. Apple retries until `retryUntil`.
        case inGracePeriod(until: Timestamp, retryUntil: Timestamp)
        /// The charge failed and the subscription has ended. Apple retries until a date.
        case inBillingRetryPeriod(until: Timestamp)
        case expired(ExpirationIntent)
        case revoked
    }

    /// An offer in use, and the number of periods left.
    struct OfferInUse: Hashable, Sendable, Codable {
        let offer: SubscriptionOffer
        var periodsLeft: Int
    }

    /// A higher price that was announced to the customer.
    package struct PriceIncrease: Hashable, Sendable, Codable {
        package let price: Price
        /// True if the customer has consented, or need not.
        package internal(set) var isAccepted: Bool
    }

    package internal(set) var originalTransactionIdentifier: String
    /// The original transaction before the subscription was migrated; nil if it was not.
    var previousOriginalTransactionIdentifier: String?
    package internal(set) var account: String
    var groupIdentifier: String
    package internal(set) var ownership = InAppOwnershipType.purchased
    /// The purchaser's subscription, which a member's follows; nil for one that the account has bought.
    package internal(set) var sharedOriginalTransactionIdentifier: String?
    var state = State.subscribed
    /// The present product.
    package internal(set) var productIdentifier: String
    /// The product of the next renewal; after the commitment, if there is one.
    package internal(set) var autoRenewProductIdentifier: String
    /// The number of seats of the present period.
    package internal(set) var quantity = 1
    /// The number of seats of the next period, if its product is sold with seats.
    package internal(set) var renewalQuantity = 1
    /// The billing plan of the next renewal; after a commitment, if there is one.
    package internal(set) var autoRenewBillingPlanType = BillingPlanType.upFront
    /// The commitment that the customer pays for monthly, or has paid for until it ended; nil if each period is paid at its start.
    package internal(set) var commitment: Commitment?
    /// The customer's setting. It is about the renewal of the commitment, if there is one.
    package internal(set) var isAutoRenewing = true
    /// The start of the uninterrupted subscription (`recentSubscriptionStartDate`).
    package internal(set) var startDate: Timestamp
    var periodStartDate: Timestamp
    /// The end of the paid period.
    package internal(set) var expiresDate: Timestamp
    /// The day of the month from which months are counted.
    var dayOfMonth: Int
    /// The present offer; nil at the standard price.
    var offer: OfferInUse?
    var nextOffer: SubscriptionOffer?
    /// The price for this customer, if it differs from the catalog's.
    var agreedPrice: Price?
    /// The storefront of the agreed price, as ISO 3166-1 alpha-3; nil for that of the settings.
    var agreedStorefront: String?
    package internal(set) var priceIncrease: PriceIncrease?
    var hasDeclinedPriceIncrease = false
    /// The dates on which the renewal date was extended.
    var extensionDates: [Timestamp] = []
    var appAccountToken: UUID?
    /// The items and terms from the developer's server; nil for a product of the store.
    package internal(set) var advancedCommerceCharge: AdvancedCommerceCharge?
    /// The items and terms of the next period; nil if they do not change.
    var advancedCommerceRenewal: AdvancedCommerceCharge?

    /// The date of the next event; nil for a subscription that has ended.
    package var dueDate: Timestamp? {
        switch state {
        case .subscribed: expiresDate
        case .inGracePeriod(let until, _), .inBillingRetryPeriod(let until): until
        case .expired, .revoked: nil
        }
    }

    /// The status, as in the App Store Server API.
    package var status: Status {
        switch state {
        case .subscribed: .active
        case .inGracePeriod: .billingGracePeriod
        case .inBillingRetryPeriod: .billingRetry
        case .expired: .expired
        case .revoked: .revoked
        }
    }

    /// True if the customer is entitled to the subscription's product.
    var isEntitled: Bool {
        switch state {
        case .subscribed, .inGracePeriod: true
        case .inBillingRetryPeriod, .expired, .revoked: false
        }
    }

    /// True if nothing more becomes due.
    var hasEnded: Bool { dueDate == nil }

    /// The reason why the subscription has ended or will end; nil for one that renews.
    package var expirationIntent: ExpirationIntent? {
        switch state {
        case .subscribed where !willAutoRenew: endingIntent
        case .subscribed, .revoked: nil
        case .inGracePeriod, .inBillingRetryPeriod: .billingError
        case .expired(let intent): intent
        }
    }

    /// The reason of the end, for a subscription that will not renew.
    var endingIntent: ExpirationIntent {
        hasDeclinedPriceIncrease ? .customerDidNotConsentToPriceIncrease : .customerCancelled
    }

    /// Begins a period of a product, whatever the state before. A renewal continues an unfinished commitment.
    ///
    /// - Parameters:
    ///   - count: The number of seats, if the product is sold with seats.
    /// - newOffer: An offer that begins with this period; nil to continue the present one, if the product is the same.
    /// - start: The start of the paid period.
    /// - Returns: The charge for the period.
    mutating func begin(
        _ product: Product,
        _ subscription: Subscription,
        seats count: Int,
        billed plan: BillingPlanType,
        offer newOffer: SubscriptionOffer?,
        reason: TransactionReason,
        at start: Timestamp,
        _ terms: SubscriptionTerms
    ) -> SubscriptionCharge {
        let continued = reason == .renewal ? unfinishedCommitment : nil
        if productIdentifier != product.productIdentifier || plan != billingPlanType {
            (agreedPrice, agreedStorefront) = (nil, nil)
            priceIncrease = nil
            offer = nil
        }
        if let newOffer {
            offer = OfferInUse(offer: newOffer, periodsLeft: newOffer.chargeCount)
        }
        productIdentifier = product.productIdentifier
        if continued == nil {
            (autoRenewProductIdentifier, autoRenewBillingPlanType) = (product.productIdentifier, plan)
        }
        quantity = subscription.multiSeat.isEnabled ? count : 1
        renewalQuantity = quantity
        state = .subscribed
        periodStartDate = start
        let applied = consumeOffer()
        let period = applied?.period ?? (plan == .monthly ? .oneMonth : subscription.period)
        expiresDate = terms.timeRate.end(of: period, from: start, dayOfMonth: dayOfMonth)
        // After a period of days or weeks, months are counted from its end.
        if period.unit == .day || period.unit == .week { dayOfMonth = expiresDate.dayOfMonth }
        let agreed = continued?.billingPrice ?? agreedPrice
        let standard = agreed ?? product.price(billed: plan)
        let offerPrice = applied.map { $0.price ?? Price(milliunits: 0, currency: standard.currency) }
        let seats = product.seats(quantity, at: offerPrice ?? (plan == .monthly ? standard : agreed))
        commitment =
            plan == .monthly
            ? nextCommitment(after: continued, at: standard, of: subscription.monthlyPlan, terms) : nil
        return SubscriptionCharge(
            productIdentifier: product.productIdentifier, quantity: quantity, seats: seats,
            price: seats.map { Price(milliunits: $0.averagePrice, currency: standard.currency) } ?? offerPrice
                ?? standard,
            offer: applied, reason: reason, startDate: start, expiresDate: expiresDate,
            billingPlanType: plan == .upFront && subscription.billingPlans.isEmpty ? nil : plan, commitment: commitment)
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

    func storefront(_ terms: SubscriptionTerms) -> Storefront {
        agreedStorefront.flatMap(Storefront.init(countryCode:)) ?? terms.storefront
    }

    /// The price of the next renewal, of one seat on average, with its seats and its offer.
    func renewalTerms(_ terms: SubscriptionTerms) -> (price: Price, seats: Seats?, offer: SubscriptionOffer?)? {
        guard let product = product(nextProductIdentifier, terms) else { return nil }
        let isSame = nextProductIdentifier == productIdentifier && nextBillingPlanType == billingPlanType
        let next = acceptedOffer ?? (isSame ? offer.flatMap { $0.periodsLeft > 0 ? $0.offer : nil } : nil)
        let agreed = unfinishedCommitment?.billingPrice ?? (isSame ? priceIncrease?.price ?? agreedPrice : nil)
        let standard = agreed ?? product.price(billed: nextBillingPlanType)
        let offerPrice = next.map { $0.price ?? Price(milliunits: 0, currency: terms.currency) }
        let seats = product.seats(
            nextQuantity(of: product), at: offerPrice ?? (nextBillingPlanType == .monthly ? standard : agreed))
        let milliunits = seats?.averagePrice ?? (offerPrice ?? standard).milliunits
        let currency = (isSame ? storefront(terms) : terms.storefront).currency
        return (Price(milliunits: milliunits, currency: currency), seats, next)
    }
}

extension SubscriptionOffer {
    /// The number of charges under the offer: one, unless each period is paid by itself.
    var chargeCount: Int { paymentMode == .payAsYouGo ? periodCount : 1 }
}

/// Events that the customer causes.
extension CustomerSubscription {
    /// A new subscription, with the effects of the purchase of the first product of the group.
    package static func first(
        _ product: Product,
        _ subscription: Subscription,
        seats count: Int = 1,
        billed plan: BillingPlanType = .upFront,
        offer: SubscriptionOffer?,
        originalTransactionIdentifier: String,
        account: String,
        _ terms: SubscriptionTerms
    ) -> (CustomerSubscription, [SubscriptionEffect]) {
        let (identifier, now) = (product.productIdentifier, terms.now)
        var first = CustomerSubscription(
            originalTransactionIdentifier: originalTransactionIdentifier, account: account,
            groupIdentifier: subscription.groupIdentifier, productIdentifier: identifier,
            autoRenewProductIdentifier: identifier, startDate: now, periodStartDate: now, expiresDate: now,
            dayOfMonth: now.dayOfMonth)
        let charge = first.begin(
            product, subscription, seats: count, billed: plan, offer: offer, reason: .purchase, at: now, terms)
        return (first, [.charge(charge), .notify(.subscribed, .initialBuy)])
    }

    /// Buys another product of the group, or the same one again.
    ///
    /// A higher product, or one of the same level, period and billing plan, replaces the present one at once. Any other waits for
    /// the renewal, and for the end of a commitment (Apple, "Offering a subscription group": upgrades, downgrades and crossgrades).
    package mutating func buy(
        _ product: Product,
        _ subscription: Subscription,
        seats count: Int = 1,
        billed plan: BillingPlanType = .upFront,
        offer: SubscriptionOffer?,
        _ terms: SubscriptionTerms
    ) -> [SubscriptionEffect] {
        let now = terms.now
        let wasRenewing = isAutoRenewing
        isAutoRenewing = true
        hasDeclinedPriceIncrease = false
        guard state == .subscribed else {
            // The subscription begins anew, at the present price.
            (self.offer, nextOffer, agreedPrice, priceIncrease) = (nil, nil, nil, nil)
            agreedStorefront = nil
            startDate = now
            dayOfMonth = now.dayOfMonth
            return [
                .charge(
                    begin(
                        product, subscription, seats: count, billed: plan, offer: offer, reason: .purchase, at: now,
                        terms)),
                .notify(.subscribed, .resubscribe),
            ]
        }
        if product.productIdentifier == productIdentifier, plan == billingPlanType {
            if count > quantity { return addSeats(upTo: count, of: product, terms) }
            return keep(offer: offer, wasRenewing: wasRenewing)
        }
        let present = terms.product(productIdentifier)?.subscription
        let isImmediate =
            present.map {
                subscription.level < $0.level
                    || (subscription.level == $0.level && subscription.period == $0.period && plan == billingPlanType)
            } ?? true
        guard isImmediate else {
            (autoRenewProductIdentifier, autoRenewBillingPlanType) = (product.productIdentifier, plan)
            priceIncrease = nil
            nextOffer = offer
            renewalQuantity = count
            return [.notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .downgrade)]
        }
        nextOffer = nil
        dayOfMonth = now.dayOfMonth
        return [
            .markUpgraded,
            .charge(
                begin(
                    product, subscription, seats: count, billed: plan, offer: offer, reason: .purchase, at: now, terms)),
            .notify(offer == nil ? .didChangeRenewalPref : .offerRedeemed, .upgrade),
        ]
    }

    /// Buys the present product again: redeems an offer, cancels a pending change or turns renewal on.
    private mutating func keep(offer: SubscriptionOffer?, wasRenewing: Bool) -> [SubscriptionEffect] {
        let hadChange = hasPendingChange
        (autoRenewProductIdentifier, autoRenewBillingPlanType) = (productIdentifier, billingPlanType)
        if hadChange { renewalQuantity = quantity }
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
        // A cancelled subscription that could not be charged ends now. A commitment is charged further.
        return state == .subscribed || willAutoRenew ? told : told + expire(.customerCancelled, .voluntary)
    }

    package mutating func consentToPriceIncrease() throws(StoreError) -> [SubscriptionEffect] {
        guard var increase = priceIncrease, !increase.isAccepted else { throw invalid("has no price increase pending") }
        increase.isAccepted = true
        priceIncrease = increase
        acceptItemPrices()
        return [.notify(.priceIncrease, .accepted)]
    }

    package mutating func declinePriceIncrease() throws(StoreError) -> [SubscriptionEffect] {
        guard let increase = priceIncrease, !increase.isAccepted else { throw invalid("has no price increase pending") }
        if dropUnacceptedItems() { return [.notify(.didChangeRenewalPref, .downgrade)] }
        priceIncrease = nil
        let effects = try setAutoRenew(false)
        hasDeclinedPriceIncrease = true
        return effects
    }
}

/// Events that the developer or the App Store causes.
extension CustomerSubscription {
    /// The number of extensions allowed in 365 days.
    static let extensionsAYear = 2

    /// Announces a higher price, from the next renewal on; from that of the commitment, if there is one.
    package mutating func requestPriceIncrease(
        to price: Price,
        needsConsent: Bool,
        _ terms: SubscriptionTerms
    ) throws(StoreError) -> [SubscriptionEffect] {
        guard advancedCommerceCharge == nil else {
            throw invalid("has the prices that the developer's server described")
        }
        let present = agreedPrice ?? terms.product(productIdentifier)?.price(billed: billingPlanType)
        guard price.milliunits > present?.milliunits ?? 0 else { throw invalid("already costs as much or more") }
        guard state == .subscribed, isAutoRenewing else { throw invalid("does not renew, so its price cannot rise") }
        priceIncrease = PriceIncrease(price: price, isAccepted: !needsConsent)
        return [.notify(.priceIncrease, needsConsent ? .pending : .accepted)]
    }

    /// Extends the paid period (App Store Server API, "Extend a Subscription Renewal Date").
    package mutating func extendRenewalDate(
        byDays days: Int,
        at now: Timestamp
    ) throws(ServerAPIError) -> [SubscriptionEffect] {
        guard state == .subscribed, willAutoRenew, offer?.offer.paymentMode != .freeTrial else {
            throw .subscriptionExtensionIneligible
        }
        let recent = extensionDates.filter { $0 > now.adding(days: -365) }
        guard recent.count < Self.extensionsAYear else { throw .subscriptionMaxExtension }
        extensionDates = recent + [now]
        expiresDate = expiresDate.adding(days: Int64(days))
        dayOfMonth = expiresDate.dayOfMonth
        if let extended = commitment {
            commitment?.expiresDate = extended.expiresDate.adding(days: Int64(days))
        }
        return [.setExpiresDate(expiresDate), .notify(.renewalExtended, nil)]
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
        commitment = nil
        state = expiresDate > now ? .subscribed : .expired(.customerCancelled)
    }
}
