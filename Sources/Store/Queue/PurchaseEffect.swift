import Commerce

/// The effect of a payment that the queue shows as purchased.
public enum PurchaseEffect: Hashable, Sendable {
    case charged(Price)
    /// Nothing was charged: the account already has this subscription, which renews at this date.
    case alreadySubscribed(renewalDate: Timestamp)
    /// Nothing was charged: the subscription changes to another product at its next renewal.
    case changes(productIdentifier: String, date: Timestamp)

    /// - Parameters:
    ///   - sold: The transaction that the queue shows for the payment.
    ///   - isShownEarlier: True if an earlier payment shows the same transaction.
    /// - subscription: The transaction's subscription; nil for any other product.
    package init(_ sold: Transaction, isShownEarlier: Bool, subscription: CustomerSubscription?) {
        // A payment that charges creates its own transaction. Renewals are not in the queue.
        guard let subscription, isShownEarlier || sold.reason == .renewal else {
            self = .charged(sold.price)
            return
        }
        let next = subscription.autoRenewProductIdentifier
        self =
            next == subscription.productIdentifier
            ? .alreadySubscribed(renewalDate: subscription.expiresDate)
            : .changes(productIdentifier: next, date: subscription.expiresDate)
    }
}
