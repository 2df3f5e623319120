import Commerce
import Receipts

/// A change that follows from an event of a subscription; the store makes them in order.
package enum SubscriptionEffect: Hashable, Sendable {
    /// A period is paid.
    case charge(SubscriptionCharge)
    /// The period before ends, since a higher subscription takes its place.
    case markUpgraded
    /// The period that is paid ends at another time.
    case setExpiresDate(Timestamp)
    case notify(NotificationTypeV2, Subtype?)
}
