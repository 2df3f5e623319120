import Ledger
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
    let ownership: InAppOwnershipType?
    /// The end of the last paid period; nil for a purchase without an end.
    package let paidUntil: Timestamp?
    let graceEndsAt: Timestamp?
    /// The date of the last statement about the renewal of the last period.
    let renewalStatedAt: Timestamp?
    /// The end of the App Store's attempts to charge the next period; nil for a purchase without an end.
    let retryEndsAt: Timestamp?
    /// True if the App Store has stated that it retries the charge.
    let isRetried: Bool
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
    ///   - transactions: The transactions of one purchase. The result is nil without one.
    ///   - type: The type of the product; nil if it is unknown.
    ///   - renewal: The last statement about the renewal; nil without one. A statement about an earlier period is ignored.
    package init?(
        _ transactions: [RedeemedTransaction],
        _ type: ProductType?,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) {
        guard let first = transactions.first else { return nil }
        // Of transactions of the same millisecond, the one that was redeemed last decides.
        let periods = transactions.sorted { $0.sequence < $1.sequence }.map { PurchasePeriod($0) }
        self.init(
            of: first.originalTransactionIdentifier, from: first.origin, periods, type, renewal, at: moment)
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
        let renewal = renewal.flatMap { $0.counts(forPeriodFrom: last.purchaseDate) ? $0 : nil }
        let isSubscription = type == .autoRenewableSubscription
        let next = isSubscription ? NextStep(after: last, renewal, at: moment) : .ends(nil)
        let state = PurchaseState(of: last, type, next, at: moment)
        originalTransactionIdentifier = original
        self.origin = origin
        productIdentifier = last.productIdentifier
        transactionIdentifier = last.transactionIdentifier
        ownership = last.terms.ownership
        paidUntil = last.expiresAt
        graceEndsAt = last.graceEndsAt
        renewalStatedAt = renewal?.statedAt
        self.state = state
        since = Self.beginning(of: periods)
        until = state.isTakenBack ? last.expiresAt : last.endsAt
        retryEndsAt = renewal?.retryEnd(after: last) ?? last.expiresAt?.adding(days: StatedRenewal.billingRetryDays)
        isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        mayRenew = isSubscription && !last.terms.isPrepaid && renewal?.facts.bool(.autoRenewStatus) != false
        self.next = next
        renews = next.renews(by: renewal)
        nextPeriod = renews == true ? NextPeriod(after: last, renewal?.facts) : nil
        ending =
            switch next {
            case .ends(let reason): reason
            case .grace, .onHold, .paused: renews == false ? renewal?.ending : nil
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

/// The rules of a user's history: the events of a purchase between two moments.
extension PurchaseStatus {
    /// An event of a purchase, caused by a statement or by time.
    struct HistoryEvent: Hashable, Sendable {
        let event: AuditEntry.Event
        /// The time at which the event took effect.
        let happenedAt: Timestamp
        var reason: String?
    }

    /// The events between the state in the history and this one, in their order.
    ///
    /// - Parameter recorded: The state in the history; nil if it has none.
    func events(since recorded: HistoryState?, at moment: Timestamp) -> [HistoryEvent] {
        let change = state == recorded?.state ? nil : stateEvent(after: recorded, at: moment)
        return renewalEvents(since: recorded) + [change].compactMap(\.self)
    }

    /// The moment until which a statement about the renewal is awaited; nil if none is.
    ///
    /// - Parameter hold: The last moment at which no silent end is reported; nil if there is none.
    func awaitsStatement(at moment: Timestamp, holding hold: Timestamp?) -> Timestamp? {
        guard let silentEnd else { return nil }
        let end =
            switch state {
            // The attempts to charge are over.
            case .expired where isRetried: silentEnd
            case .expired: silentEnd.adding(seconds: origin.store.silentEndSeconds)
            case _ where origin.store.statesEndOfGracePeriod: silentEnd.adding(seconds: origin.store.silentEndSeconds)
            default: silentEnd
            }
        let isHeld = hold.map { moment <= $0 } ?? false
        return moment < end || isHeld ? max(end, hold ?? end) : nil
    }

    /// The end that time alone has brought to a subscription that may renew. Nil if the store has stated anything since.
    private var silentEnd: Timestamp? {
        guard mayRenew, let paidUntil else { return nil }
        let end: Timestamp? =
            switch state {
            case .billingRetry: graceEndsAt
            case .expired: isRetried ? retryEndsAt : max(paidUntil, graceEndsAt ?? paidUntil)
            default: nil
            }
        return end.flatMap { end in renewalStatedAt.map { $0 < end } ?? true ? end : nil }
    }

    private func renewalEvents(since recorded: HistoryState?) -> [HistoryEvent] {
        guard state.isOwned || state.mayReturn, next != .prepaid, let renewalStatedAt, let renews else { return [] }
        switch (recorded?.renews, renews) {
        case (true, false), (nil, false):
            let canceler = origin.store.statesCanceler ? ending?.canceler : nil
            return [HistoryEvent(event: .autoRenewDisabled, happenedAt: renewalStatedAt, reason: canceler)]
        case (false, true): return [HistoryEvent(event: .autoRenewEnabled, happenedAt: renewalStatedAt)]
        case (true, true), (nil, true), (false, false): return []
        }
    }

    /// The end of the attempts to charge. The statement about the end may leave out the commitment that the ones before it have stated.
    private func retryEnd(after recorded: HistoryState?) -> Timestamp? {
        guard let retryEndsAt, let paidUntil, let changesAt = recorded?.changesAt else { return retryEndsAt }
        let ofCommitment = paidUntil.adding(days: StatedRenewal.commitmentBillingRetryDays)
        return recorded?.state == .billingRetry && changesAt >= ofCommitment ? ofCommitment : retryEndsAt
    }

    private func stateEvent(after recorded: HistoryState?, at moment: Timestamp) -> HistoryEvent? {
        guard let paidUntil, let retryEndsAt = retryEnd(after: recorded) else { return nil }
        switch state {
        case .gracePeriod: return HistoryEvent(event: .gracePeriodBegan, happenedAt: paidUntil)
        case .billingRetry:
            // A hold may follow a pause, at whose end the charge has failed.
            let end = recorded?.state == .paused ? renewalStatedAt : graceEndsAt
            return HistoryEvent(event: .renewalFailed, happenedAt: end ?? paidUntil)
        case .paused: return HistoryEvent(event: .paused, happenedAt: paidUntil, reason: pausedUntil?.rfc3339)
        case .expired, .upgraded:
            let end = [paidUntil, graceEndsAt].compactMap(\.self).max() ?? paidUntil
            // The store stops retrying at its limit, or states that it has stopped earlier.
            let stated = renewalStatedAt ?? retryEndsAt
            let givenUp = isRetried ? retryEndsAt : origin.store.retriesWithinLimit ? min(stated, retryEndsAt) : stated
            return HistoryEvent(
                event: .expired, happenedAt: recorded?.state.mayReturn == true ? max(end, givenUp) : end,
                reason: ending?.rawValue)
        default: return nil
        }
    }
}

/// The last statement of the App Store about a subscription's grace period.
package struct GracePeriod: Hashable, Sendable {
    /// Nil if there is no grace period.
    package let endsAt: Timestamp?
    package let order: StatementOrder
    /// True for the statement that a grace period is over, which says nothing of its date.
    var isOver = false

    /// This statement after another one. The end of a grace period moves it forwards, never back.
    func following(_ other: GracePeriod?) -> GracePeriod? {
        guard isOver else { return self }
        guard let end = other?.endsAt, let limit = endsAt else { return other }
        return GracePeriod(endsAt: min(end, limit), order: order)
    }

    /// True if this statement supersedes another. The later one does. Of two signed in the same millisecond, the one that ends
    /// later does.
    func isLater(than other: GracePeriod?) -> Bool {
        guard let other else { return true }
        if order != other.order { return order > other.order }
        return (endsAt?.millisecondsSince1970 ?? 0) > (other.endsAt?.millisecondsSince1970 ?? 0)
    }
}

extension GracePeriod {
    /// Nil for a claim without a statement about a grace period.
    package init?(_ claim: Claim) {
        guard let grace = claim.grace else { return nil }
        self.init(endsAt: grace.endsAt, order: grace.order ?? claim.order, isOver: grace.isOver)
    }
}
