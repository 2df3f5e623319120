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
    /// Nil if the App Store has not stated whether the subscription renews; false for a purchase that never renews.
    package let renews: Bool?
    /// The product of the next period; nil for a purchase that does not renew.
    package let nextProductIdentifier: String?
    /// Nil for a purchase that has not ended, or without a stated reason.
    package let expirationReason: ExpirationReason?

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
        let state = PurchaseState(of: last, type, renewal, at: moment)
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
        retryEndsAt = last.expiresAt?.adding(days: renewal?.billingRetryDays ?? StatedRenewal.billingRetryDays)
        isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        mayRenew = type == .autoRenewableSubscription && renewal?.facts.bool(.autoRenewStatus) != false
        renews = state.renews(as: type, by: renewal)
        nextProductIdentifier = renews == true ? renewal?.facts.text(.autoRenewProductId) ?? productIdentifier : nil
        expirationReason =
            state != .expired
            ? nil
            : renewal?.facts.canceler == .replacement
                ? .replaced : ExpirationReason(intent: renewal?.facts.integer(.expirationIntent))
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

    /// The time to wait for a statement about the renewal, in seconds, before the end of a subscription that may renew is
    /// reported. The user does not own the item meanwhile.
    private static let statementSeconds: Int64 = 3600
    /// The same time for a subscription at Google Play, in days. The service asks about each end until Google Play states one. After this
    /// time, Google Play forgets the subscription.
    private static let daysOfGooglePlay: Int64 = 60

    /// The moment until which a statement about the renewal is awaited; nil if none is.
    ///
    /// - Parameter hold: The last moment at which no silent end is reported; nil if there is none.
    func awaitsStatement(at moment: Timestamp, holding hold: Timestamp?) -> Timestamp? {
        guard let silentEnd else { return nil }
        let isRenewal = state == .expired && !isRetried
        let end =
            origin.isGooglePlay
            ? silentEnd.adding(days: Self.daysOfGooglePlay)
            : isRenewal ? silentEnd.adding(seconds: Self.statementSeconds) : silentEnd
        let isHeld = hold.map { moment <= $0 } ?? false
        return moment < end || isHeld ? max(end, hold ?? end) : nil
    }

    /// The end that time alone has brought to a subscription that may renew. Nil if the store has stated anything since.
    private var silentEnd: Timestamp? {
        guard mayRenew, let paidUntil else { return nil }
        let end: Timestamp? =
            switch state {
            case .billingRetry: graceEndsAt
            case .expired: isRetried ? retryEndsAt : paidUntil
            default: nil
            }
        return end.flatMap { end in renewalStatedAt.map { $0 < end } ?? true ? end : nil }
    }

    private func renewalEvents(since recorded: HistoryState?) -> [HistoryEvent] {
        guard state.isOwned || state == .billingRetry, let renewalStatedAt, let renews else { return [] }
        switch (recorded?.renews, renews) {
        case (true, false), (nil, false): return [HistoryEvent(event: .autoRenewDisabled, happenedAt: renewalStatedAt)]
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
        case .billingRetry: return HistoryEvent(event: .renewalFailed, happenedAt: graceEndsAt ?? paidUntil)
        case .expired:
            let end = [paidUntil, graceEndsAt].compactMap(\.self).max() ?? paidUntil
            // The App Store stops retrying at its limit, or states that it has stopped earlier.
            let givenUp = isRetried ? retryEndsAt : min(renewalStatedAt ?? retryEndsAt, retryEndsAt)
            return HistoryEvent(
                event: .expired, happenedAt: recorded?.state == .billingRetry ? max(end, givenUp) : end,
                reason: expirationReason?.rawValue)
        default: return nil
        }
    }
}

/// The reason for the end of a subscription, by Apple's `expirationIntent` and Google's `canceledStateContext`.
package enum ExpirationReason: String, Sendable, CaseIterable {
    case customerCancelled
    case billingError
    case customerDidNotConsentToPriceIncrease
    case productNotAvailable
    /// At Google Play, another purchase has replaced it, which the service does not know.
    case replaced
    case other

    /// The reason as a part of a sentence.
    package var sentence: String {
        switch self {
        case .customerCancelled: "the customer turned renewal off"
        case .billingError: "the renewal could not be charged"
        case .customerDidNotConsentToPriceIncrease: "the customer did not consent to a price increase"
        case .productNotAvailable: "the product was not available at the renewal"
        case .replaced: "another purchase has replaced it"
        case .other: "another reason"
        }
    }

    /// - Parameter intent: Apple's number; nil if the App Store has stated none.
    init?(intent: Int64?) {
        switch intent.flatMap({ Int(exactly: $0) }).flatMap(ExpirationIntent.init(rawValue:)) {
        case .customerCancelled: self = .customerCancelled
        case .billingError: self = .billingError
        case .customerDidNotConsentToPriceIncrease: self = .customerDidNotConsentToPriceIncrease
        case .productNotAvailable: self = .productNotAvailable
        case .other: self = .other
        case nil: return nil
        }
    }
}

/// The last statement of the App Store about a subscription's grace period.
package struct GracePeriod: Hashable, Sendable {
    /// Nil if there is no grace period.
    package let endsAt: Timestamp?
    package let order: StatementOrder

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
        self.init(endsAt: grace.endsAt, order: grace.order ?? claim.order)
    }
}
