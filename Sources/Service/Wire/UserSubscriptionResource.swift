import Proofs

/// The current state of a user's subscription.
package struct UserSubscriptionResource: Codable, Sendable {
    package let originalTransactionId: String
    package let origin: Origin
    /// The product of the last period.
    package let productId: String
    /// `trial`, `introductory`, `active`, `willNotRenew`, `gracePeriod`, `billingRetry`, `expired`, `revoked` or `upgraded`.
    package let state: String
    /// The start of the uninterrupted periods. Dates are RFC 3339, UTC.
    package let since: String
    /// The end of the last period, or of its grace period.
    package var until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it. False for a commitment that the customer lets end,
    /// though its next periods follow.
    package var renews: Bool?
    /// The product of the next period.
    package var nextProductId: String?
    /// The reason for the expiration.
    package var expirationReason: String?
}
