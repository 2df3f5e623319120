import Proofs

/// Decides the effects of a refund from the facts about one sale and a moment.
package struct RefundEffects: Hashable, Sendable {
    private let transaction: Transaction
    fileprivate let subscription: CustomerSubscription?
    /// The transaction and, for a non-consumable, everything that was restored or bought again: one purchase.
    private let samePurchase: [Transaction]
    /// The transactions of the same period; only the transaction itself, unless seats were added.
    private let samePeriod: [Transaction]
    private let isPresent: Bool
    /// All transactions with the same original transaction, the oldest first.
    private let related: [Transaction]
    /// True if the customer waits for the decision.
    private let isRequested: Bool
    /// The consumed part in thousandths of a percent, as the developer has told it; nil if it is not told.
    private let consumed: Int?

    /// - Parameters:
    ///   - related: All transactions with the same original transaction, the oldest first.
    ///   - subscription: The subscription that the transaction belongs to; nil for any other product.
    ///   - isRequested: True if the customer has requested the refund, and waits for the decision.
    ///   - consumed: The developer's `consumptionPercentage`; nil if it is not told.
    package init(
        transaction: Transaction,
        related: [Transaction],
        subscription: CustomerSubscription?,
        isRequested: Bool = false,
        consumed: Int? = nil
    ) {
        (self.transaction, self.subscription, self.isRequested) = (transaction, subscription, isRequested)
        (self.related, self.consumed) = (related, consumed)
        samePurchase = transaction.type == .nonConsumable ? related : [transaction]
        samePeriod = related.filter {
            $0.transactionIdentifier == transaction.transactionIdentifier
                || (transaction.additionalReason != nil
                    && $0.webOrderLineItemIdentifier == transaction.webOrderLineItemIdentifier)
        }
        isPresent = samePeriod.last?.transactionIdentifier == related.last?.transactionIdentifier
    }

    /// Notifies the developer of the customer's request. A member has nothing to be refunded.
    package func request(reason: ConsumptionRequestReason) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        // StoreKit, `RefundRequestError.duplicateRequest`.
        guard transaction.advancedCommerceRefund == nil else {
            throw .invalidAction(
                "A refund of transaction \(transaction.transactionIdentifier) that your server has requested is pending. Grant or decline it first."
            )
        }
        return transaction.ownership == .purchased ? [notify(.consumptionRequest, reason)] : []
    }

    /// Revokes the purchase. The paid period of a subscription ends with it.
    ///
    /// - Parameters:
    ///   - seats: The number of seats to refund, while the transaction stays valid for the others; nil for all.
    ///   - isProrated: True to refund only what is left of the purchase.
    ///   - percentage: The part to refund, in thousandths of a percent; nil for all, or for what is left.
    package func refund(
        seats: Int? = nil,
        isProrated: Bool = false,
        percentage: Int? = nil,
        reason: RevocationReason,
        at now: Timestamp
    ) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        try transaction.checkPurchased()
        guard !isProrated && percentage == nil || transaction.advancedCommerceCharge == nil else {
            throw .invalidAction(
                "Transaction \(transaction.transactionIdentifier) has items that a server has described, each with its own refund. Request "
                    + "a prorated one with the Advanced Commerce API.")
        }
        if let request = transaction.advancedCommerceRefund { return refund(request, at: now) }
        if let seats { return try refund(seats: seats) }
        var part = percentage ?? Transaction.Revocation.whole
        if isProrated, percentage == nil { part = try percentageLeft(at: now) }
        guard (1...Transaction.Revocation.whole).contains(part) else {
            throw .invalidAction(
                "\(part) is no part of transaction \(transaction.transactionIdentifier) that can be refunded. Name one from 1 to "
                    + "\(Transaction.Revocation.whole) thousandths of a percent.")
        }
        let type: RevocationType = part == Transaction.Revocation.whole ? .refundFull : .refundProrated
        return revoke(type, part, for: reason, at: now, telling: .refund)
    }

    /// The part that is left: "For auto-renewable subscriptions: 0.0-100.0% based on time remaining in the subscription period. For
    /// consumables, non-consumables, and non-renewing subscriptions: 0.0-100.0% based on consumption data", rounded to thousandths
    /// (developer.apple.com/documentation/storekit/transaction/revocationpercentage).
    private func percentageLeft(at now: Timestamp) throws(StoreError) -> Int {
        if transaction.type == .autoRenewableSubscription, let end = transaction.expiresDate {
            let period = end.millisecondsSince1970 - transaction.purchaseDate.millisecondsSince1970
            let left = end.millisecondsSince1970 - now.millisecondsSince1970
            guard period > 0, left > 0 else { return 0 }
            return Int((2 * Int64(Transaction.Revocation.whole) * min(period, left) / period + 1) / 2)
        }
        guard let consumed else {
            throw .invalidAction(
                "Your server has not told how much of transaction \(transaction.transactionIdentifier) was consumed. Answer a consumption "
                    + "request with its consumptionPercentage, or name the percentage to refund.")
        }
        return Transaction.Revocation.whole - consumed
    }

    /// Refunds some seats. As at Apple, the transaction gets no revocation date.
    private func refund(seats: Int) throws(StoreError) -> [RefundEffect] {
        let left = transaction.remainingQuantity
        guard transaction.seats != nil, (1..<max(1, left)).contains(seats) else {
            throw .invalidAction(
                "\(seats) seats of transaction \(transaction.transactionIdentifier) cannot be refunded: it has \(left). "
                    + "Refund fewer of several, or the whole transaction without a number of seats.")
        }
        var (changed, subscription) = (transaction, subscription)
        changed.seats?.revokedQuantity += seats
        if isPresent { subscription?.setSeats(otherSeats + changed.remainingQuantity) }
        var effects = [RefundEffect.update(changed)]
        if let subscription, subscription != self.subscription { effects.append(.save(subscription)) }
        return effects + [.notifySeats(changed, subscription)]
    }

    /// Notifies the developer of the refused request.
    package func decline() throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        try transaction.checkPurchased()
        guard isRequested else {
            throw .invalidAction(
                "The customer has not requested a refund of transaction \(transaction.transactionIdentifier), or the request was "
                    + "answered. Request a refund first.")
        }
        guard transaction.advancedCommerceRefund != nil else { return [notify(.refundDeclined)] }
        var changed = transaction
        changed.advancedCommerceRefund = nil
        return [.update(changed), .notify(.refundDeclined, changed, subscription, nil)]
    }

    /// Asks the developer about a refund that the developer's server has requested, and that is then to be decided.
    func ask(about request: AdvancedCommerceRefundRequest) -> [RefundEffect] {
        var changed = transaction
        changed.advancedCommerceRefund = request
        let reason = ConsumptionRequestReason(rawValue: request.reason) ?? .other
        return [.update(changed), .notify(.consumptionRequest, changed, subscription, reason)]
    }

    /// Declines a refund that the developer's server has requested for a test (Advanced Commerce API, SIMULATE_REFUND_DECLINE).
    func simulateDecline() -> [RefundEffect] { [notify(.refundDeclined)] }

    /// Pays items back, and takes those that the request names.
    func refund(_ request: AdvancedCommerceRefundRequest, at now: Timestamp) -> [RefundEffect] {
        var subscription = subscription
        let paid = request.endsSubscription ? related.filter { $0.isPaid(after: now) } : [transaction]
        let refunded = paid.map { $0.refunding(request, at: now) }
        if transaction.isPaid(after: now) || request.endsSubscription {
            let revoked = request.items?.filter(\.isRevoked).map(\.sku)
            if revoked.map({ subscription?.drop($0) == false }) ?? true, subscription?.hasEnded == false {
                subscription?.revoke()
            }
        }
        var effects = refunded.map { RefundEffect.update($0) }
        if let subscription, subscription != self.subscription { effects.append(.save(subscription)) }
        return effects + refunded.map { .notify(.refund, $0, subscription, nil) }
    }

    /// Reinstates a refunded purchase, and the subscription if the refund ended it.
    package func reverse(at now: Timestamp) throws(StoreError) -> [RefundEffect] {
        guard transaction.isRefunded else {
            throw .invalidAction("Transaction \(transaction.transactionIdentifier) was not refunded.")
        }
        return reinstate(at: now)
    }

    /// Lets a family member have the purchase again, because the purchaser's refund was reversed.
    package func resumeFamilySharing(at now: Timestamp) -> [RefundEffect] { reinstate(at: now) }

    private func reinstate(at now: Timestamp) -> [RefundEffect] {
        var subscription = subscription
        if isPresent {
            subscription?.reinstate(at: now)
            subscription?.setSeats(otherSeats + transaction.remainingQuantity)
        }
        return change(endingWith: subscription, telling: .refundReversed) { $0.reinstate() }
    }

    /// Revokes the transaction of a family member.
    ///
    /// - Parameter reason: That of the purchaser's refund, if it ends the sharing (App Store Server API, `revocationReason`).
    package func revokeFamilySharing(
        for reason: RevocationReason = .refundedForOtherReason,
        at now: Timestamp
    ) throws(StoreError) -> [RefundEffect] {
        try transaction.checkNotRevoked()
        guard transaction.ownership == .familyShared else {
            throw .invalidAction("Transaction \(transaction.transactionIdentifier) does not belong to a family member.")
        }
        return revoke(.familyRevoke, for: reason, at: now, telling: .revoke)
    }

    /// Revokes the present transaction of a member, and with it the seat.
    func revokeSeat(for reason: RevocationReason, at now: Timestamp) -> [RefundEffect] {
        revoke(.assignmentRevoke, for: reason, at: now, telling: .revoke)
    }

    /// The number of seats of the period's other transactions that are not revoked.
    private var otherSeats: Int {
        samePeriod.filter { $0.transactionIdentifier != transaction.transactionIdentifier && $0.revocation == nil }
            .reduce(0) { $0 + $1.remainingQuantity }
    }

    private func revoke(
        _ type: RevocationType,
        _ percentage: Int? = nil,
        for reason: RevocationReason,
        at now: Timestamp,
        telling notification: NotificationTypeV2
    ) -> [RefundEffect] {
        var subscription = subscription
        // The refund of an earlier period leaves the present one, and the refund of some seats leaves the others.
        if isPresent, otherSeats > 0 {
            subscription?.setSeats(otherSeats)
        } else if isPresent, subscription?.hasEnded == false {
            subscription?.revoke()
        }
        return change(endingWith: subscription, telling: notification) {
            $0.revoke(type, percentage, for: reason, at: now)
        }
    }

    private func change(
        endingWith subscription: CustomerSubscription?,
        telling type: NotificationTypeV2,
        _ change: (inout Transaction) -> Void
    ) -> [RefundEffect] {
        func changed(_ transaction: Transaction) -> Transaction {
            var changed = transaction
            change(&changed)
            return changed
        }
        var effects = samePurchase.map { RefundEffect.update(changed($0)) }
        if let subscription, subscription != self.subscription { effects.append(.save(subscription)) }
        return effects + [.notify(type, changed(transaction), subscription, nil)]
    }

    private func notify(_ type: NotificationTypeV2, _ reason: ConsumptionRequestReason? = nil) -> RefundEffect {
        .notify(type, transaction, subscription, reason)
    }
}

/// A change that follows from a refund. The store makes the changes in order.
package enum RefundEffect: Hashable, Sendable {
    case update(Transaction)
    case save(CustomerSubscription)
    /// A notification about a transaction and its subscription. The reason belongs to a consumption request.
    case notify(NotificationTypeV2, Transaction, CustomerSubscription?, ConsumptionRequestReason?)
    case notifySeats(Transaction, CustomerSubscription?)
}

extension Books {
    /// Reads the facts about a sale and makes the decided changes. Members follow.
    func decideRefund(of transactionIdentifier: String, _ decide: (RefundEffects) throws -> [RefundEffect]) throws {
        let transaction = try sale(transactionIdentifier)
        let decision = RefundEffects(
            transaction: transaction,
            related: try transactions.transactions(original: transaction.originalTransactionIdentifier),
            subscription: try subscriptionOrNone(of: transaction),
            isRequested: try transactions.isRefundRequested(of: transactionIdentifier),
            consumed: try consumedPercentage(of: transactionIdentifier))
        for effect in try decide(decision) {
            switch effect {
            case .update(let changed): try transactions.update(changed)
            case .save(let changed): try subscriptions.save(changed)
            case .notify(let type, let changed, let subscription, let reason):
                try transactions.setRefundRequested(type == .consumptionRequest, of: transactionIdentifier)
                try notify(type, nil, of: changed, in: subscription, consumptionRequestReason: reason)
            case .notifySeats(let changed, let subscription):
                try transactions.setRefundRequested(false, of: transactionIdentifier)
                try notify(.refund, .seats, of: changed, in: subscription)
            }
        }
        try followRefund(of: transaction, in: decision.subscription)
    }

    func subscriptionOrNone(of transaction: Transaction) throws -> CustomerSubscription? {
        try subscriptions.subscription(original: transaction.originalTransactionIdentifier)
    }
}

extension Transaction {
    /// True if Apple refunded the transaction in full or in part. The refund history includes such transactions.
    package var isRefunded: Bool { revocation?.type == .refundFull || revocation?.type == .refundProrated }

    /// - Parameter percentage: The refunded part of the price; nil for a revocation without a refund, and for one of the whole price.
    package mutating func revoke(
        _ type: RevocationType, _ percentage: Int? = nil, for reason: RevocationReason, at now: Timestamp
    ) {
        // "This field is present … for refunded transactions" (App Store Server API, `revocationPercentage`), and "not present for
        // Advanced Commerce transactions" (StoreKit, `revocationPercentage`): their items have the refunds.
        let stated = percentage ?? (type == .refundFull ? Revocation.whole : nil)
        if type == .refundFull { advancedCommerceCharge?.refundRest(for: reason, at: now) }
        revocation = Revocation(
            date: now, reason: reason, type: type, percentage: advancedCommerceCharge == nil ? stated : nil)
    }

    /// Ends the revocation, and gives back the items that it took, without their refunds of that moment.
    fileprivate mutating func reinstate() {
        let date = revocation?.date
        revocation = nil
        guard var charge = advancedCommerceCharge else { return }
        for index in charge.items.indices {
            let earlier = charge.items[index].refunds?.filter { $0.date != date }
            charge.items[index].refunds = earlier?.isEmpty == true ? nil : earlier
            if charge.items[index].revokedAt == date { charge.items[index].revokedAt = nil }
        }
        advancedCommerceCharge = charge
    }

    /// - Throws: `StoreError`, `invalidAction`, if the transaction is already revoked.
    func checkNotRevoked() throws(StoreError) {
        guard revocation == nil else {
            throw .invalidAction("Transaction \(transactionIdentifier) was taken back already.")
        }
    }
}
