import Features
import Proofs

/// A redeemed purchase with all statements about it.
public struct KnownPurchaseResource: Codable, Sendable {
    /// The owner. Nil if the user was erased.
    public let owner: UserName?
    public let originalTransactionId: String
    public let origin: Origin
    /// The product of the last transaction.
    public let productId: String
    /// A state of `UserSubscriptionResource`, or `owned`, `familyShared`, `consumed` or `refunded`.
    public let state: String
    /// Dates are RFC 3339, UTC.
    public let since: String
    public let until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    public let renews: Bool?
    public let expirationReason: String?
    /// The items that the transactions grant.
    public let items: [Item]
    /// The transactions, newest first.
    public let transactions: [TransactionResource]
    /// The notifications, newest first, at most 200.
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
