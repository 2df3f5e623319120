import Features
import Proofs

/// The rules that derive customer info from the ledger's facts.
extension CustomerInfo {
    package init(_ facts: CustomerInfoFacts) {
        self.init(
            requestDate: facts.requestDate, originalAppUserIdentifier: facts.identifier, firstSeen: facts.firstSeen,
            lastSeen: facts.lastSeen, originalApplicationVersion: facts.originalApplicationVersion,
            originalPurchaseDate: facts.originalPurchaseDate, attributes: facts.attributes)
        let periods = CustomerPeriods(facts)
        for (product, periods) in periods.subscriptions {
            subscriptions[product] = Self.subscription(product, periods, facts)
        }
        for (product, periods) in periods.purchases {
            purchases[product] = periods.map { Self.purchase(product, $0, facts) }
        }
        for right in facts.rights {
            let promotion = PromotionalGrant(facts.grants, of: right)
            if let promotion { subscriptions[ByteKey(promotion.productIdentifier)] = promotion.subscription }
            entitlements[ByteKey(right.identifier)] = entitlement(right, periods, promotion)
        }
        let isManaged = subscriptions.values.contains { $0.store == .appStore && $0.isActive(at: facts.requestDate) }
        managementURL = isManaged ? Self.managementURL : nil
    }

    private static func subscription(
        _ product: ByteKey,
        _ periods: [CustomerPeriod],
        _ facts: CustomerInfoFacts
    ) -> Subscription? {
        guard let last = periods.max(by: { $1.lasts(longerThan: $0) }) else { return nil }
        let transaction = last.transaction
        let renewal = renewal(after: last, facts)
        let isGraceRunning = transaction.graceEndsAt.map { $0 > facts.requestDate } ?? false
        // The App Store states a renewal again when the period ends, but the event happened before.
        let identifier = ByteKey(transaction.transactionIdentifier)
        let turnedOffAt = facts.renewalEvents.turnedOff[identifier] ?? renewal?.statedAt
        let failedAt = facts.renewalEvents.chargeFailed[identifier] ?? renewal?.statedAt
        let hasBillingIssue =
            renewal?.facts.bool(.isInBillingRetryPeriod) == true
            || renewal?.facts.integer(.expirationIntent) == Int64(ExpirationIntent.billingError.rawValue)
        return Subscription(
            store: .appStore, isSandbox: last.isSandbox, purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: last.originalPurchaseDate, expiresDate: last.endsAt,
            periodType: last.terms.isTrial ? .trial : last.terms.isIntroductory ? .intro : .normal,
            ownership: last.terms.isFamilyShared ? .familyShared : .purchased,
            unsubscribeDetectedAt: renewal?.willRenew == false ? turnedOffAt : nil,
            billingIssuesDetectedAt: hasBillingIssue
                ? failedAt : isGraceRunning && last.nextPurchaseDate == nil ? transaction.expiresAt : nil,
            gracePeriodExpiresDate: transaction.graceEndsAt,
            refundedAt: last.terms.isPaidByAnother ? nil : transaction.revocationDate,
            storeTransactionIdentifier: transaction.transactionIdentifier,
            displayName: facts.products[product]?.displayName, price: transaction.paidPrice)
    }

    /// The statement about the renewal of a period. Nil if the purchase has a later period, perhaps of another product.
    private static func renewal(after period: CustomerPeriod, _ facts: CustomerInfoFacts) -> StatedRenewal? {
        guard period.nextPurchaseDate == nil, let renewal = facts.renewals[period.transaction.originalKey],
            renewal.counts(forPeriodFrom: period.transaction.purchaseDate)
        else { return nil }
        return renewal
    }

    private static func purchase(
        _ product: ByteKey,
        _ period: CustomerPeriod,
        _ facts: CustomerInfoFacts
    ) -> Purchase {
        let transaction = period.transaction
        let name = "\(transaction.app ?? "")/\(transaction.origin.rawValue)/\(transaction.transactionIdentifier)"
        return Purchase(
            identifier: DigestAlgorithm.sha256.digest(of: Array(name.utf8)).prefix(10).hexadecimal, store: .appStore,
            isSandbox: period.isSandbox, purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: period.originalPurchaseDate,
            storeTransactionIdentifier: transaction.transactionIdentifier,
            displayName: facts.products[product]?.displayName, price: transaction.paidPrice)
    }

    /// The entitlement of a right; nil if neither a purchase nor a grant has ever given it.
    private func entitlement(
        _ right: CustomerRight,
        _ periods: CustomerPeriods,
        _ promotion: PromotionalGrant?
    ) -> Entitlement? {
        var best: Entitlement?
        func consider(_ candidate: Entitlement) {
            if best.map({ candidate.lasts(longerThan: $0) }) ?? true { best = candidate }
        }
        for identifier in right.productIdentifiers + [promotion?.productIdentifier].compactMap(\.self) {
            if let subscription = subscriptions[ByteKey(identifier)] {
                consider(
                    Entitlement(
                        productIdentifier: identifier, purchaseDate: subscription.purchaseDate,
                        expiresDate: subscription.expiresDate,
                        gracePeriodExpiresDate: subscription.gracePeriodExpiresDate))
            }
            for period in periods.purchases[ByteKey(identifier)] ?? [] {
                consider(
                    Entitlement(
                        productIdentifier: identifier, purchaseDate: period.transaction.purchaseDate,
                        expiresDate: period.endsAt))
            }
        }
        return best
    }
}
