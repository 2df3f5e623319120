import Proofs

/// The current state of a user's subscription.
public struct UserSubscriptionResource: Codable, Sendable {
    public let originalTransactionId: String
    public let origin: Origin
    /// The product of the last period.
    public let productId: String
    /// `trial`, `introductory`, `active`, `willNotRenew`, `gracePeriod`, `billingRetry`, `expired`, `revoked` or `upgraded`.
    public let state: String
    /// The start of the uninterrupted periods. Dates are RFC 3339, UTC.
    public let since: String
    /// The end of the last period, or of its grace period.
    public let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it. False for a commitment that the customer lets end,
    /// though its next periods follow.
    public let renews: Bool?
    /// The product of the next period.
    public let nextProductId: String?
    /// The reason for the expiration.
    public let expirationReason: String?

    public init(
        originalTransactionId: String,
        origin: Origin,
        productId: String,
        state: String,
        since: String,
        until: String? = nil,
        renews: Bool? = nil,
        nextProductId: String? = nil,
        expirationReason: String? = nil
    ) {
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.productId = productId
        self.state = state
        self.since = since
        self.until = until
        self.renews = renews
        self.nextProductId = nextProductId
        self.expirationReason = expirationReason
    }
}
