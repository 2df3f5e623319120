import Proofs

/// A transaction in a list, with its payment and its subscription. It is a class, so throwing functions can return it.
package final class ListedTransaction: Sendable {
    /// The number in the order of the sales. Later transactions have greater numbers.
    package let number: Int64
    package let transaction: Transaction
    /// The newest transaction of the payment queue for it; nil if the queue never had it, such as for a renewal.
    package let payment: PaymentTransaction?
    /// The subscription; nil for any other product.
    package let subscription: SubscriptionSummary?
    /// True if a member of the family can get the purchase.
    package let isShareable: Bool

    init(
        number: Int64,
        transaction: Transaction,
        payment: PaymentTransaction?,
        subscription: SubscriptionSummary?,
        isShareable: Bool
    ) {
        self.number = number
        self.transaction = transaction
        self.payment = payment
        self.subscription = subscription
        self.isShareable = isShareable
    }
}
