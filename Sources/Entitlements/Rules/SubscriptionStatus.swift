import Commerce
import Receipts

/// A user's subscription as it is at a moment: derived from its transactions and the last statement about its renewal.
public struct SubscriptionStatus: Hashable, Sendable {
    public let originalTransactionIdentifier: String
    public let origin: Origin
    /// The product of the last period.
    public let productIdentifier: String
    public let state: SubscriptionState
    /// The date of the first purchase.
    public let since: Timestamp
    /// The end of the last period, or of its grace period; nil for a subscription without an end.
    public let until: Timestamp?
    /// Nil if the App Store has not stated whether the subscription renews.
    public let renews: Bool?
    /// The product of the next period; nil for a subscription that does not renew.
    public let nextProductIdentifier: String?
    /// Nil for a subscription that has not ended, or without a stated reason.
    public let expirationReason: ExpirationReason?

    /// The longest time for which the App Store tries to charge again, in days (App Store Server Notifications,
    /// `DID_FAIL_TO_RENEW`).
    private static let billingRetryDays: Int64 = 60
    /// The longest time before the purchase date of a period in which a statement about its renewal is signed, in days: the App
    /// Store charges within a day before a period begins.
    private static let renewalDays: Int64 = 1

    /// - Parameters:
    ///   - transactions: The transactions of one purchase; nil is returned without one.
    ///   - renewal: The last statement about the renewal; nil without one. A statement about an earlier period does not count.
    public init?(_ transactions: [RedeemedTransaction], _ renewal: StatedRenewal?, at moment: Timestamp) {
        let transactions = transactions.sorted { ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence) }
        guard let first = transactions.first, let last = transactions.last else { return nil }
        let isOutdated = renewal.map { $0.statedAt < last.purchaseDate.adding(days: -Self.renewalDays) } ?? false
        let renewal = isOutdated ? nil : renewal
        let state = Self.state(of: last, renewal, at: moment)
        let isRunning = [.trial, .introductory, .active, .willNotRenew, .gracePeriod].contains(state)
        originalTransactionIdentifier = last.originalTransactionIdentifier
        origin = last.origin
        productIdentifier = last.productIdentifier
        self.state = state
        since = first.purchaseDate
        until = [last.expiresAt, state == .gracePeriod ? last.graceEndsAt : nil].compactMap(\.self).max()
        renews = isRunning || state == .billingRetry ? renewal?.facts.bool(.autoRenewStatus) : false
        nextProductIdentifier = renews == true ? renewal?.facts.text(.autoRenewProductId) ?? productIdentifier : nil
        expirationReason = state == .expired ? ExpirationReason(intent: renewal?.facts.integer(.expirationIntent)) : nil
    }

    private static func state(
        of last: RedeemedTransaction,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) -> SubscriptionState {
        guard last.revocationDate == nil, last.revocation == nil else { return .revoked }
        if last.facts.bool(.isUpgraded) == true { return .upgraded }
        guard let end = last.expiresAt, end <= moment else { return runningState(of: last, renewal) }
        if let graceEndsAt = last.graceEndsAt, graceEndsAt > moment { return .gracePeriod }
        let isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        return isRetried && moment < end.adding(days: billingRetryDays) ? .billingRetry : .expired
    }

    private static func runningState(of last: RedeemedTransaction, _ renewal: StatedRenewal?) -> SubscriptionState {
        let facts = last.facts
        if facts.text(.offerDiscountType) == OfferDiscountType.freeTrial.rawValue || facts.bool(.isTrialPeriod) == true
        {
            return .trial
        }
        if facts.integer(.offerType) == Int64(OfferType.introductoryOffer.rawValue)
            || facts.bool(.isInIntroductoryOfferPeriod) == true
        {
            return .introductory
        }
        return renewal?.facts.bool(.autoRenewStatus) == false ? .willNotRenew : .active
    }
}
