import Proofs

/// The status of a user's purchase at a moment. It follows from its transactions and the last statement about its renewal.
package struct PurchaseStatus: Hashable, Sendable {
    package let originalTransactionIdentifier: String
    package let origin: Origin
    /// The product of the last transaction.
    package let productIdentifier: String
    package let state: PurchaseState
    /// The start of the latest run of periods without a gap.
    package let since: Timestamp
    /// The end of the last period, or of its grace period if it is longer; nil for a purchase without an end. A period that was
    /// taken back has no grace period.
    package let until: Timestamp?
    /// The next step. A purchase without renewal ends.
    package let next: NextStep
    /// Nil if the store has not stated whether the subscription renews; false for a purchase that never renews.
    package let renews: Bool?
    /// Nil for a purchase that does not renew.
    package let nextPeriod: NextPeriod?
    /// The reason for which no further period follows; nil if one may follow, or without a stated reason.
    package let ending: ExpirationReason?

    /// The longest gap between two consecutive periods, in seconds, because the clocks of the App Store's servers differ.
    static let maximumGapSeconds: Int64 = 3600

    /// The last transaction.
    let transactionIdentifier: String
    /// The customer's relationship to the last transaction; nil if the App Store has not stated it.
    package let ownership: InAppOwnershipType?
    /// The end of the last paid period; nil for a purchase without an end.
    package let paidUntil: Timestamp?
    let graceEndsAt: Timestamp?
    /// The date of the last statement about the renewal of the last period.
    let renewalStatedAt: Timestamp?
    /// True if the last period is of another product, and has replaced a period before its end.
    let replacesAtOnce: Bool
    /// True if the last statement about the renewal is of before such a replacement: it says nothing of the new plan.
    let isRenewalOfReplaced: Bool
    /// The end of the App Store's attempts to charge the next period; nil for a purchase without an end.
    let retryEndsAt: Timestamp?
    /// True if the App Store has stated that it retries the charge.
    let isRetried: Bool
    /// The date at which the App Store stated that a period that the ledger does not have has replaced the last one; nil if it has not,
    /// and at the end of the last period.
    let awaitsSuccessorSince: Timestamp?
    /// True if another period may follow, as far as the App Store has stated. False for another purchase.
    ///
    /// The periods of a commitment follow, also if the customer lets it end.
    package let mayRenew: Bool

    /// The product of the next period; nil for a purchase that does not renew.
    package var nextProductIdentifier: String? { nextPeriod?.productIdentifier }
    /// Nil for a purchase that has not ended, or without a stated reason.
    package var expirationReason: ExpirationReason? { state == .expired ? ending : nil }
    /// The end of a pause; nil for a subscription that is not paused, or without a stated end.
    package var pausedUntil: Timestamp? {
        if case .paused(let until) = next { until } else { nil }
    }

    /// - Parameters:
    ///   - transactions: The transactions of one purchase, or of all parts of a subscription that has moved. The result is nil without one.
    ///   - type: The type of the product; nil if it is unknown.
    ///   - renewal: The last statement about the renewal; nil without one. A statement about an earlier period is ignored.
    package init?(
        _ transactions: [RedeemedTransaction],
        _ type: ProductType?,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) {
        guard let last = transactions.latest else { return nil }
        // Of transactions of the same millisecond, the one that was redeemed last decides.
        let periods = transactions.sorted { $0.sequence < $1.sequence }.map { PurchasePeriod($0) }
        self.init(
            of: last.originalTransactionIdentifier, from: last.origin, periods, type, renewal, at: moment)
    }

    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    init?(
        _ transactions: [RedeemedTransaction],
        _ renewal: StatedRenewal?,
        at moment: Timestamp,
        type: (String) -> ProductType?
    ) {
        let stated = transactions.lazy.compactMap(\.facts.productType).first
        let kind =
            stated ?? transactions.last.flatMap { type($0.productIdentifier) }
            ?? renewal.map { _ in .autoRenewableSubscription }
        self.init(transactions, kind, renewal, at: moment)
    }

    /// - Parameters:
    ///   - original: The identifier of the original transaction.
    ///   - periods: The periods of the purchase. The result is nil without one.
    init?(
        of original: String,
        from origin: Origin,
        _ periods: [PurchasePeriod],
        _ type: ProductType?,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) {
        // Of two periods of the same millisecond, the replaced one comes first.
        func order(_ period: (offset: Int, element: PurchasePeriod)) -> (Timestamp, Int, Int) {
            (period.element.purchaseDate, period.element.terms.isUpgraded ? 0 : 1, period.offset)
        }
        let periods = PurchasePeriod.inEffect(
            periods.enumerated().sorted { order($0) < order($1) }.map(\.element), at: moment)
        guard let last = periods.last else { return nil }
        let renewal = renewal.flatMap { $0.counts(forPeriodFrom: last.purchaseDate, of: origin.store) ? $0 : nil }
        let isSubscription = type == .autoRenewableSubscription
        let next = isSubscription ? NextStep(after: last, renewal, of: origin.store, at: moment) : .ends(nil)
        let state = PurchaseState(of: last, type, next, at: moment)
        originalTransactionIdentifier = original
        self.origin = origin
        productIdentifier = last.productIdentifier
        transactionIdentifier = last.transactionIdentifier
        ownership = last.terms.ownership
        paidUntil = last.expiresAt
        graceEndsAt = last.graceEndsAt
        renewalStatedAt = renewal?.statedAt
        let replacesAtOnce = periods.dropLast().last.map { last.replaces($0) } ?? false
        self.replacesAtOnce = replacesAtOnce
        isRenewalOfReplaced = replacesAtOnce && renewal.map { last.hasBegun(after: $0.statedAt) } ?? false
        self.state = state
        since = Self.beginning(of: periods)
        until = state.isTakenBack ? last.expiresAt : last.endsAt
        retryEndsAt =
            renewal?.retryEnd(after: last, of: origin.store)
            ?? last.expiresAt?.adding(days: StatedRenewal.billingRetryDays)
        isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        let isReplaced = next == .unknown && last.terms.isUpgraded && origin.store.answersAboutUpgrades
        awaitsSuccessorSince = isReplaced ? last.terms.signedAt : nil
        mayRenew = isSubscription && !last.terms.isPrepaid && renewal?.facts.bool(.autoRenewStatus) != false
        self.next = next
        renews = next.renews(by: renewal)
        nextPeriod = renews == true ? NextPeriod(after: last, renewal?.facts) : nil
        ending =
            switch next {
            case .ends(let reason): reason
            case .grace, .onHold, .paused: renews == false ? renewal?.ending(of: origin.store) : nil
            case .renews, .prepaid, .unknown: nil
            }
    }

    /// - Parameter periods: At least one period, in the order of the purchase dates.
    private static func beginning(of periods: [PurchasePeriod]) -> Timestamp {
        var first = periods[periods.count - 1]
        for earlier in periods.dropLast().reversed() {
            let isConnected = earlier.endsAt.map { $0.adding(seconds: maximumGapSeconds) >= first.purchaseDate } ?? true
            guard !earlier.isRevoked, isConnected else { break }
            first = earlier
        }
        return first.ownedFrom
    }
}

extension PurchasePeriod {
    /// True if this period has ended one of another product at its own beginning, as an upgrade does, which takes effect at once (App Store
    /// Server Notifications, `DID_CHANGE_RENEWAL_PREF`, UPGRADE).
    fileprivate func replaces(_ other: PurchasePeriod) -> Bool {
        guard !productIdentifier.hasSameBytes(as: other.productIdentifier) else { return false }
        let tolerance = EntitlementDecision.Successor.toleranceSeconds
        return other.terms.isUpgraded || other.expiresAt.map { purchaseDate.adding(seconds: tolerance) < $0 } ?? false
    }

    fileprivate func hasBegun(after moment: Timestamp) -> Bool {
        moment.adding(seconds: EntitlementDecision.Successor.toleranceSeconds) < purchaseDate
    }
}
