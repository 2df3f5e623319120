import Proofs

/// Decides the effects of a refund from the facts about one sale and a moment.
package struct RefundDecision: Hashable, Sendable {
    private let transaction: Transaction
    /// All transactions with the same original transaction, the oldest first.
    private let related: [Transaction]
    /// The subscription that the transaction belongs to; nil for any other product.
    private let subscription: CustomerSubscription?

    package init(transaction: Transaction, related: [Transaction], subscription: CustomerSubscription?) {
        self.transaction = transaction
        self.related = related
        self.subscription = subscription
    }

    /// Notifies the developer of the customer's request. A family member has nothing to be refunded.
    package func request(reason: ConsumptionRequestReason) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        return transaction.ownership == .purchased ? [notify(.consumptionRequest, reason)] : []
    }

    /// Revokes the purchase. The paid period of a subscription ends with it.
    package func refund(reason: RevocationReason, at now: Timestamp) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        return revoke(TransactionStatement.Revocation(date: now, reason: reason, type: .refundFull), telling: .refund)
    }

    /// Notifies the developer of the refused request.
    package func decline() throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        return [notify(.refundDeclined)]
    }

    /// Reinstates a refunded purchase, and the subscription if the refund ended it.
    package func reverse(at now: Timestamp) throws(StoreError) -> [RefundEffect] {
        guard transaction.revocation?.type == .refundFull else {
            throw .invalidAction("Transaction \(transaction.transactionIdentifier) was not refunded.")
        }
        var subscription = subscription
        if isLatest { subscription?.reinstate(at: now) }
        return set(nil, endingWith: subscription, telling: .refundReversed)
    }

    /// Revokes the transaction of a family member.
    package func revokeFamilySharing(at now: Timestamp) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        guard transaction.ownership == .familyShared else {
            throw .invalidAction("Transaction \(transaction.transactionIdentifier) does not belong to a family member.")
        }
        let revocation = TransactionStatement.Revocation(
            date: now, reason: .refundedForOtherReason, type: .familyRevoke)
        return revoke(revocation, telling: .revoke)
    }

    private func revoke(
        _ revocation: TransactionStatement.Revocation,
        telling type: NotificationTypeV2
    ) -> [RefundEffect] {
        var subscription = subscription
        // The refund of an earlier period leaves the present one.
        if isLatest, subscription?.dueDate != nil { subscription?.revoke() }
        return set(revocation, endingWith: subscription, telling: type)
    }

    private func set(
        _ revocation: TransactionStatement.Revocation?,
        endingWith subscription: CustomerSubscription?,
        telling type: NotificationTypeV2
    ) -> [RefundEffect] {
        var effects = samePurchase.map { same -> RefundEffect in
            var changed = same
            changed.revocation = revocation
            return .update(changed)
        }
        if let subscription, subscription != self.subscription { effects.append(.save(subscription)) }
        var changed = transaction
        changed.revocation = revocation
        effects.append(.notify(type, changed, subscription, nil))
        return effects
    }

    private func notify(_ type: NotificationTypeV2, _ reason: ConsumptionRequestReason? = nil) -> RefundEffect {
        .notify(type, transaction, subscription, reason)
    }

    private var isLatest: Bool { related.last?.transactionIdentifier == transaction.transactionIdentifier }

    /// The transaction and, for a non-consumable, everything that was restored or bought again: one purchase.
    private var samePurchase: [Transaction] { transaction.type == .nonConsumable ? related : [transaction] }
}
