import Commerce
import Foundation
import Receipts

extension Books {
    /// Writes a subscription that an event has changed, and does what follows from it, in order.
    func record(_ subscription: CustomerSubscription, _ effects: [SubscriptionEffect]) throws {
        try subscriptions.save(subscription)
        for effect in effects {
            switch effect {
            case .charge(let charge): try transactions.add(transaction(for: charge, of: subscription))
            case .markUpgraded: try changeLatest(of: subscription) { $0.isUpgraded = true }
            case .setExpiresDate(let date): try changeLatest(of: subscription) { $0.expiresDate = date }
            case .notify(let type, let subtype): try notify(type, subtype, of: subscription)
            }
        }
    }

    /// Buys a subscription's product for an account.
    ///
    /// - Returns: The transaction that the customer's queue shows: a new one where something was charged.
    /// - Throws: `PaymentFailure` for an offer that there is not, or not for this customer.
    func subscribe(_ payment: Payment, _ product: Product, _ terms: Subscription, account: String) throws -> Transaction
    {
        var known = try subscriptions.subscription(of: account, group: terms.groupIdentifier)
        let offer = try offer(for: payment, terms, account: account, known: known)
        let effects: [SubscriptionEffect]
        if var subscription = known {
            effects = subscription.buy(product, terms, offer: offer, at: now, self.terms)
            known = subscription
        } else {
            var subscription = CustomerSubscription(
                originalTransactionIdentifier: newTransactionIdentifier(), account: account,
                groupIdentifier: terms.groupIdentifier, state: .subscribed,
                productIdentifier: product.productIdentifier,
                autoRenewProductIdentifier: product.productIdentifier, isAutoRenewing: true, startDate: now,
                expiresDate: now, dayOfMonth: now.dayOfMonth)
            let charge = subscription.begin(
                product, terms, offer: offer, reason: .purchase, at: now, timeRate: settings.timeRate)
            effects = [.charge(charge), .notify(.subscribed, .initialBuy)]
            known = subscription
        }
        guard var subscription = known else { throw StoreError.productNotFound(product.productIdentifier) }
        subscription.appAccountToken = payment.appAccountToken ?? subscription.appAccountToken
        try record(subscription, effects)
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
            throw StoreError.productNotFound(product.productIdentifier)
        }
        return latest
    }

    /// The offer that a payment gets: the one asked for, or an introductory one that the customer has not had.
    private func offer(
        for payment: Payment,
        _ terms: Subscription,
        account: String,
        known: CustomerSubscription?
    ) throws -> SubscriptionOffer? {
        guard let choice = payment.offer else {
            // Of itself only for who comes, or comes back.
            guard known?.isEntitled != true,
                try isEligibleForIntroductoryOffer(account: account, group: terms.groupIdentifier)
            else { return nil }
            return terms.offers.first { $0.kind == .introductory }
        }
        guard let offer = terms.offers.first(where: { $0.kind == choice.kind && $0.identifier == choice.identifier })
        else { throw PaymentFailure(error: .invalidOfferIdentifier) }
        let customer: SubscriptionOffer.Eligibility =
            known.map { $0.isEntitled ? .existing : .expired } ?? .new
        let isEligible =
            switch choice.kind {
            case .introductory: try isEligibleForIntroductoryOffer(account: account, group: terms.groupIdentifier)
            case .promotional: customer != .new
            case .offerCode: true
            case .winBack: customer == .expired
            }
        guard isEligible, offer.eligibility?.contains(customer) ?? true else {
            throw PaymentFailure(error: .ineligibleForOffer)
        }
        if let signature = choice.signature { try check(signature, of: choice, for: payment) }
        return offer
    }

    /// Once for each customer and group (Apple, "Implementing introductory offers").
    func isEligibleForIntroductoryOffer(account: String, group: String) throws -> Bool {
        try !transactions.transactions(of: account).contains {
            $0.subscriptionGroupIdentifier == group && $0.offer?.kind == .introductory
        }
    }

    private func transaction(for charge: SubscriptionCharge, of subscription: CustomerSubscription) throws
        -> Transaction
    {
        let original = try transactions.transaction(subscription.originalTransactionIdentifier)
        return Transaction(
            transactionIdentifier: original == nil
                ? subscription.originalTransactionIdentifier : newTransactionIdentifier(),
            originalTransactionIdentifier: subscription.originalTransactionIdentifier,
            orderIdentifier: newOrderIdentifier(),
            webOrderLineItemIdentifier: randomness.digits(15, startingWith: "1"),
            account: subscription.account, productIdentifier: charge.productIdentifier,
            type: .autoRenewableSubscription,
            subscriptionGroupIdentifier: subscription.groupIdentifier, quantity: 1, purchaseDate: charge.startDate,
            originalPurchaseDate: original?.purchaseDate ?? charge.startDate,
            price: Price(milliunits: charge.price.milliunits, currency: storefront.currency), offer: charge.offer,
            reason: charge.reason, ownership: .purchased, storefrontCountryCode: storefront.countryCode,
            expiresDate: charge.expiresDate, appAccountToken: subscription.appAccountToken)
    }

    private func changeLatest(of subscription: CustomerSubscription, _ body: (inout Transaction) -> Void) throws {
        guard var latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else { return }
        body(&latest)
        try transactions.update(latest)
    }
}
