import Commerce

/// A purchase that a user has redeemed, with all that was stated about it.
public struct KnownPurchaseResource: Codable, Sendable {
    /// Nil for a user who was erased.
    public let owner: UserName?
    public let originalTransactionId: String
    public let origin: Origin
    /// The product of the last transaction.
    public let productId: String
    /// As `UserSubscriptionResource` has it, or `owned`, `familyShared`, `consumed` or `refunded`.
    public let state: String
    /// Dates are RFC 3339, UTC.
    public let since: String
    public let until: String?
    /// Nil if the App Store has not stated it.
    public let renews: Bool?
    public let expirationReason: String?
    /// The items that the transactions grant.
    public let items: [Item]
    /// The newest first.
    public let transactions: [TransactionResource]
    /// The newest first, 200 at most.
    public let notifications: [StatedNotificationResource]

    public init(
        owner: UserName? = nil,
        originalTransactionId: String,
        origin: Origin,
        productId: String,
        state: String,
        since: String,
        until: String? = nil,
        renews: Bool? = nil,
        expirationReason: String? = nil,
        items: [Item],
        transactions: [TransactionResource],
        notifications: [StatedNotificationResource]
    ) {
        self.owner = owner
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.productId = productId
        self.state = state
        self.since = since
        self.until = until
        self.renews = renews
        self.expirationReason = expirationReason
        self.items = items
        self.transactions = transactions
        self.notifications = notifications
    }
}
