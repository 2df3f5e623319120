import Commerce
import Receipts

/// The state of a purchase at a moment: of a subscription, or of a purchase that does not renew.
public enum PurchaseState: String, Sendable, CaseIterable {
    /// In a free trial.
    case trial
    /// In a period that an introductory offer has made cheaper.
    case introductory
    /// In a paid period. The subscription renews, or the App Store has not stated whether it does.
    case active
    /// In a paid period, the last one unless the customer turns renewal on again.
    case willNotRenew
    /// Not charged, and still owned: the App Store tries to charge until the grace period ends.
    case gracePeriod
    /// Not charged, and owned no more: the App Store still tries to charge.
    case billingRetry
    /// Over: a subscription, or a purchase with an end.
    case expired
    /// A subscription that the App Store has taken back, or any purchase that the team has taken back.
    case revoked
    /// A subscription replaced by one of a higher level.
    case upgraded
    /// Bought by the user.
    case owned
    /// A consumable, added to a balance.
    case consumed
    /// A purchase that does not renew, taken back by the App Store.
    case refunded
    /// Bought by a member of the customer's family.
    case familyShared
    /// Stated by the App Store, and redeemed by nobody.
    case unclaimed

    /// True if the user owns what was bought.
    public var isOwned: Bool {
        switch self {
        case .trial, .introductory, .active, .willNotRenew, .gracePeriod, .owned, .consumed, .familyShared: true
        case .billingRetry, .expired, .revoked, .upgraded, .refunded, .unclaimed: false
        }
    }

    /// The longest time for which the App Store tries to charge again, in days (App Store Server Notifications,
    /// `DID_FAIL_TO_RENEW`).
    static let billingRetryDays: Int64 = 60

    /// - Parameters:
    ///   - last: The last period of the purchase.
    ///   - type: The type of the product; nil if neither the App Store nor the catalog says it.
    ///   - renewal: The last statement about the renewal that counts for the period; nil without one.
    init(of last: PurchasePeriod, _ type: ProductType?, _ renewal: StatedRenewal?, at moment: Timestamp) {
        if last.isRevokedByTeam {
            self = .revoked
        } else if type == .autoRenewableSubscription {
            self = Self.ofSubscription(last, renewal, at: moment)
        } else if last.isRevoked {
            // Apple withdraws family sharing, and refunds the buyer alone.
            self = last.terms.isFamilyShared ? .revoked : .refunded
        } else if type == .consumable {
            self = .consumed
        } else if let end = last.expiresAt, end <= moment {
            self = .expired
        } else {
            self = last.terms.isFamilyShared ? .familyShared : .owned
        }
    }

    private static func ofSubscription(
        _ last: PurchasePeriod,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) -> PurchaseState {
        if last.isRevoked { return .revoked }
        if last.terms.isUpgraded { return .upgraded }
        guard let end = last.expiresAt, end <= moment else {
            if last.terms.isTrial { return .trial }
            if last.terms.isIntroductory { return .introductory }
            return renewal?.facts.bool(.autoRenewStatus) == false ? .willNotRenew : .active
        }
        if let graceEndsAt = last.graceEndsAt, graceEndsAt > moment { return .gracePeriod }
        let isRetried = renewal?.facts.bool(.isInBillingRetryPeriod) == true
        return isRetried && moment < end.adding(days: billingRetryDays) ? .billingRetry : .expired
    }
}
