import Commerce

/// A purchase that a user has redeemed, with all that was stated about it.
public struct KnownPurchase: Hashable, Sendable {
    /// Nil for a user who was erased.
    public let owner: User?
    /// The bundle identifier of the app that sold it.
    public var app: String? { transactions.first?.app }
    public let status: PurchaseStatus
    /// The items that its transactions grant.
    public let items: [Item]
    /// The newest first.
    public let transactions: [RedeemedTransaction]
    /// The newest first.
    public let notifications: [StatedNotification]
}
