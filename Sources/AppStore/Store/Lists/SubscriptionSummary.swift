import Proofs

/// A customer's subscription, for people.
public struct SubscriptionSummary: Hashable, Sendable {
    /// A higher price that was announced to the customer.
    public struct PriceIncrease: Hashable, Sendable {
        public let price: Price
        /// True if the customer has consented, or need not.
        public let isAccepted: Bool
    }

    public let originalTransactionIdentifier: String
    public let account: String
    public let groupIdentifier: String
    public let status: Status
    public let productIdentifier: String
    /// The product of the next renewal.
    public let nextProductIdentifier: String
    public let isAutoRenewing: Bool
    /// The start of the uninterrupted subscription.
    public let startDate: Timestamp
    /// The end of the paid period.
    public let expiresDate: Timestamp
    /// The date of the next event: a renewal, the end of a grace period or of the billing retry. Nil if it has ended.
    public let dueDate: Timestamp?
    /// The price of the next renewal; nil if it does not renew.
    public let renewalPrice: Price?
    /// The offer of the next renewal; nil for the standard price.
    public let renewalOffer: SubscriptionOffer.Kind?
    public let priceIncrease: PriceIncrease?
    /// The reason why it has ended or will end; nil if it renews.
    public let expirationIntent: ExpirationIntent?

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
