import Proofs

/// The state of a subscription or another purchase at a moment.
package enum PurchaseState: String, Sendable, CaseIterable {
    /// In a free trial.
    case trial
    /// In a period with the lower price of an introductory offer.
    case introductory
    /// In a paid period. The subscription renews, or the App Store has not stated whether it does.
    case active
    /// In a paid period. It is the last one, or of the last commitment, unless the customer turns renewal on again.
    case willNotRenew
    /// Not charged, but still owned. The App Store retries until the grace period ends.
    case gracePeriod
    /// Not charged, and not owned. The App Store still retries.
    case billingRetry
    /// Over, for a subscription or a purchase with an end.
    case expired
    /// A subscription that the App Store has revoked, or any purchase that the team has revoked.
    case revoked
    /// A subscription replaced by one of a higher level.
    case upgraded
    /// Bought by the user, or assigned to the user as a seat.
    case owned
    /// A consumable, added to a balance.
    case consumed
    /// A purchase without renewal that the App Store has refunded.
    case refunded
    /// Bought by a member of the customer's family.
    case familyShared
    /// Stated by the App Store, but redeemed by nobody.
    case unclaimed

    /// True if the user owns the benefit.
    package var isOwned: Bool {
        switch self {
        case .trial, .introductory, .active, .willNotRenew, .gracePeriod, .owned, .consumed, .familyShared: true
        case .billingRetry, .expired, .revoked, .upgraded, .refunded, .unclaimed: false
        }
    }

    /// True if the App Store or the team has taken the last period back, or an upgrade has ended it.
    var isTakenBack: Bool { [.revoked, .refunded, .upgraded].contains(self) }

    /// - Parameters:
    ///   - last: The last period of the purchase.
    ///   - type: The type of the product; nil if neither the App Store nor the catalog has it.
    ///   - renewal: The last statement about the renewal of the period; nil without one.
    init(of last: PurchasePeriod, _ type: ProductType?, _ renewal: StatedRenewal?, at moment: Timestamp) {
        if last.isRevokedByTeam {
            self = .revoked
        } else if type == .autoRenewableSubscription {
            self = Self.ofSubscription(last, renewal, at: moment)
        } else if last.isRevoked {
            // Apple withdraws family sharing and seats from members, and refunds only the buyer.
            self = last.terms.isPaidByAnother ? .revoked : .refunded
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
        // The App Store may state a refund of the rest of an upgraded period.
        if last.terms.isUpgraded { return .upgraded }
        if last.isRevoked { return .revoked }
        guard let end = last.expiresAt, end <= moment else {
            if last.terms.isTrial { return .trial }
            if last.terms.isIntroductory { return .introductory }
            return renewal?.willRenew == false ? .willNotRenew : .active
        }
        if let graceEndsAt = last.graceEndsAt, graceEndsAt > moment { return .gracePeriod }
        guard let renewal, renewal.facts.bool(.isInBillingRetryPeriod) == true else { return .expired }
        return moment < end.adding(days: renewal.billingRetryDays) ? .billingRetry : .expired
    }
}
