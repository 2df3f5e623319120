import Foundation
import Proofs

extension Books {
    /// Writes a changed subscription and performs the effects in order.
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

    /// Sells a subscription's product to an account.
    ///
    /// - Returns: The transaction that the customer's queue shows: a new one if something was charged.
    /// - Throws: `PaymentFailure` for an offer that does not exist or that the customer is not eligible for.
    func subscribe(_ payment: Payment, _ product: Product, _ terms: Subscription, account: String) throws -> Transaction
    {
        let known = try subscriptions.subscription(of: account, group: terms.groupIdentifier)
        let offer = try offer(for: payment, terms, account: account, known: known)
        var subscription =
            known
            ?? CustomerSubscription(
                originalTransactionIdentifier: newTransactionIdentifier(), account: account, of: product,
                groupIdentifier: terms.groupIdentifier, at: now)
        let effects =
            known == nil
            ? subscription.buyFirst(product, terms, offer: offer, at: now, self.terms)
            : subscription.buy(product, terms, offer: offer, at: now, self.terms)
        subscription.appAccountToken = payment.appAccountToken ?? subscription.appAccountToken
        try record(subscription, effects)
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
            throw StoreError.productNotFound(product.productIdentifier)
        }
        return latest
    }

    /// The offer of a payment. `OfferDecision` has the rules.
    private func offer(
        for payment: Payment,
        _ terms: Subscription,
        account: String,
        known: CustomerSubscription?
    ) throws -> SubscriptionOffer? {
        let hadIntroductoryOffer = try transactions.transactions(of: account).contains {
            $0.subscriptionGroupIdentifier == terms.groupIdentifier && $0.offer?.kind == .introductory
        }
        switch OfferDecision(
            payment.offer, among: terms.offers, customer: known.eligibility, hadIntroductoryOffer: hadIntroductoryOffer)
        {
        case .standardPrice: return nil
        case .refuse(let error): throw PaymentFailure(error: error)
        case .offer(let offer):
            if let choice = payment.offer, let signature = choice.signature {
                try check(signature, of: choice, for: payment)
            }
            return offer
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
