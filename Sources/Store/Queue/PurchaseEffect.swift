import Commerce

/// The effect of a payment that the queue shows as purchased.
public enum PurchaseEffect: Hashable, Sendable {
    case charged(Price)
    /// Nothing was charged: the account has this subscription, until its next renewal.
    case alreadySubscribed(renewalDate: Timestamp)
    /// Nothing was charged: the subscription changes to another product at its next renewal.
    case changes(productIdentifier: String, date: Timestamp)

    /// - Parameters:
    ///   - sold: The transaction that the queue shows for the payment.
    ///   - isShownBefore: True if an earlier payment shows the same transaction.
    ///   - subscription: The transaction's subscription; nil for anything else.
    package init(_ sold: Transaction, isShownBefore: Bool, subscription: CustomerSubscription?) {
        // A payment that charges leads to a transaction of its own. Renewals are not in the queue.
        guard let subscription, isShownBefore || sold.reason == .renewal else {
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
