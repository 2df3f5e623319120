/// The state of a subscription at a moment.
public enum SubscriptionState: String, Sendable, CaseIterable {
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
    case expired
    /// Taken back by the App Store or the team.
    case revoked
    /// Replaced by a subscription of a higher level.
    case upgraded
}
