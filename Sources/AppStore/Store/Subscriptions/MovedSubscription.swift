import Catalog
import Proofs

/// A subscription that goes on under another original transaction, "when a customer switched between a standalone auto-renewable
/// subscription and a subscription bundle (in either direction)" (StoreKit, `Transaction.previousOriginalTransactionID`).
///
/// Apple has published no server's names for the bundle itself, so the transaction states only the former original transaction.
extension CustomerSubscription {
    /// True if it can move: it runs, and its customer alone pays for it, at the price of the product and in advance.
    var mayMove: Bool {
        state == .subscribed && ownership == .purchased && commitment == nil && advancedCommerceCharge == nil
            && quantity == 1 && renewalQuantity == 1 && priceIncrease == nil
    }

    /// The same subscription under another original transaction. As an upgrade does, the move begins another period, which is charged.
    ///
    /// - Parameter identifier: The new original transaction.
    /// - Returns: Nil for one that cannot move, and for a product that is not for sale.
    func moved(under identifier: String, _ terms: SubscriptionTerms) -> (CustomerSubscription, [SubscriptionEffect])? {
        guard mayMove, let product = terms.product(productIdentifier), let subscription = product.subscription else {
            return nil
        }
        var moved = self
        moved.originalTransactionIdentifier = identifier
        moved.previousOriginalTransactionIdentifier = originalTransactionIdentifier
        (moved.offer, moved.nextOffer, moved.isAutoRenewing) = (nil, nil, true)
        moved.dayOfMonth = terms.now.dayOfMonth
        let charge = moved.begin(
            product, subscription, seats: 1, billed: .upFront, offer: nil, reason: .purchase, at: terms.now, terms)
        return (moved, [.charge(charge), .notify(.subscribed, .initialBuy)])
    }
}

extension Books {
    /// Moves the subscription of a transaction into a bundle, or out of one.
    ///
    /// - Throws: `StoreError` for a subscription that cannot move, or that a family shares.
    func moveSubscription(with transactionIdentifier: String) throws {
        let former = try purchasedSubscription(with: transactionIdentifier)
        let original = former.originalTransactionIdentifier
        guard try subscriptions.fetch("shared_original_transaction_id = \(original)").isEmpty else {
            throw former.invalid("is shared by a family, and cannot move. End the sharing first")
        }
        guard let (moved, effects) = former.moved(under: newTransactionIdentifier(), try terms(of: former.account))
        else {
            throw former.invalid(
                "cannot move. It must run, and its customer must pay for it alone, in advance and without an announced price"
            )
        }
        try changePeriod(of: former) { $0.isUpgraded = true }
        // An account has one subscription of a group.
        try subscriptions.delete(original: original)
        try record(moved, effects)
        try payments.add(try sale(moved.originalTransactionIdentifier), .purchased)
    }
}
