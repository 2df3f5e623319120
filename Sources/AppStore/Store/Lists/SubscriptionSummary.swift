import Proofs

/// A customer's subscription, for people.
package struct SubscriptionSummary: Hashable, Sendable {
    /// A higher price that was announced to the customer.
    package struct PriceIncrease: Hashable, Sendable {
        package let price: Price
        /// True if the customer has consented, or need not.
        package let isAccepted: Bool
    }

    package let originalTransactionIdentifier: String
    package let account: String
    package let groupIdentifier: String
    package let status: Status
    package let productIdentifier: String
    /// The product of the next renewal.
    package let nextProductIdentifier: String
    package let isAutoRenewing: Bool
    /// The start of the uninterrupted subscription.
    package let startDate: Timestamp
    /// The end of the paid period.
    package let expiresDate: Timestamp
    /// The date of the next event: a renewal, the end of a grace period or of the billing retry. Nil if it has ended.
    package let dueDate: Timestamp?
    /// The price of the next renewal; nil if it does not renew.
    package let renewalPrice: Price?
    /// The offer of the next renewal; nil for the standard price.
    package let renewalOffer: SubscriptionOffer.Kind?
    package let priceIncrease: PriceIncrease?
    /// The reason why it has ended or will end; nil if it renews.
    package let expirationIntent: ExpirationIntent?

    package init(_ subscription: CustomerSubscription, _ terms: SubscriptionTerms) {
        let renewal = subscription.isAutoRenewing ? subscription.renewalTerms(terms) : nil
        originalTransactionIdentifier = subscription.originalTransactionIdentifier
        account = subscription.account
        groupIdentifier = subscription.groupIdentifier
        status = subscription.status
        productIdentifier = subscription.productIdentifier
        nextProductIdentifier = subscription.autoRenewProductIdentifier
        isAutoRenewing = subscription.isAutoRenewing
        startDate = subscription.startDate
        expiresDate = subscription.expiresDate
        dueDate = subscription.dueDate
        renewalPrice = renewal?.price
        renewalOffer = renewal?.offer?.kind
        priceIncrease = subscription.priceIncrease.map { PriceIncrease(price: $0.price, isAccepted: $0.isAccepted) }
        expirationIntent = subscription.expirationIntent
    }
}
