import Proofs

/// A change that follows from an event of a subscription. The store makes the changes in order.
package enum SubscriptionEffect: Hashable, Sendable {
    /// A period is charged.
    case charge(SubscriptionCharge)
    /// The previous period ends, because a higher subscription replaces it.
    case markUpgraded
    /// The paid period ends at another time.
    case setExpiresDate(Timestamp)
    case notify(NotificationTypeV2, Subtype?)
}
