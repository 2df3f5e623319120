import Proofs

/// The effect of a payment that the queue shows as purchased.
package enum PurchaseEffect: Hashable, Sendable {
    case charged(Price)
    /// Nothing was charged: the account already has this subscription, which renews at this date.
    case alreadySubscribed(renewalDate: Timestamp)
    /// Nothing was charged: the subscription changes to another product at its next renewal.
    case changes(productIdentifier: String, date: Timestamp)

    /// The kind of an effect. The raw value is the name in JSON.
    package enum Kind: String, Sendable, CaseIterable {
        case charged
        case alreadySubscribed
        case changes
    }

    package var kind: Kind {
        switch self {
        case .charged: .charged
        case .alreadySubscribed: .alreadySubscribed
        case .changes: .changes
        }
    }

    /// The charged price, 0 included; nil if the payment could not charge.
    package var price: Price? {
        if case .charged(let price) = self { price } else { nil }
    }

    /// The product after the next renewal; nil if the product stays.
    package var nextProductIdentifier: String? {
        if case .changes(let product, _) = self { product } else { nil }
    }

    /// The date of the subscription's next renewal; nil for a payment that charged.
    package var renewalDate: Timestamp? {
        switch self {
        case .charged: nil
        case .alreadySubscribed(let date), .changes(_, let date): date
        }
    }

    /// - Parameters:
    ///   - sold: The transaction that the queue shows for the payment.
    ///   - isShownEarlier: True if an earlier payment shows the same transaction.
    /// - subscription: The transaction's subscription; nil for any other product.
    init(_ sold: Transaction, isShownEarlier: Bool, subscription: CustomerSubscription?) {
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
