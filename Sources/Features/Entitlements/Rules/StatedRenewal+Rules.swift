import Proofs

extension StatedRenewal {
    /// True if the customer lets the subscription renew; nil if the App Store has not stated it.
    ///
    /// The App Store charges all periods of a commitment, so `autoRenewStatus` stays on after a cancellation. The commitment has
    /// a setting of its own.
    package var willRenew: Bool? {
        let isCharged = facts.bool(.autoRenewStatus)
        guard isCharged != false, let status = facts.commitment?.commitmentAutoRenewStatus else { return isCharged }
        return status.rawValue != AutoRenewStatus.off.rawValue
    }

    /// The longest time for which the App Store retries a charge, in days (App Store Server Notifications,
    /// `DID_FAIL_TO_RENEW`). It is longer under a commitment.
    var billingRetryDays: Int64 { facts[.commitmentInfo] == nil ? Self.billingRetryDays : 90 }

    /// The same without a commitment.
    static let billingRetryDays: Int64 = 60

    /// The longest time before the purchase date of a period in which a statement about its renewal is signed, in days: the App
    /// Store charges within a day before a period begins.
    private static let renewalDays: Int64 = 1

    /// Returns true if the statement is about the period or a later one.
    ///
    /// - Parameter purchaseDate: The purchase date of the period.
    package func counts(forPeriodFrom purchaseDate: Timestamp) -> Bool {
        statedAt >= purchaseDate.adding(days: -Self.renewalDays)
    }
}
