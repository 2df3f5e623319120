import Proofs

/// A redeemed purchase, with the statements about it.
public struct KnownPurchase: Hashable, Sendable {
    /// Nil if the user was erased.
    public let owner: User?
    /// The bundle identifier of the app that sold it.
    public var app: String? { transactions.first?.app }
    public let status: PurchaseStatus
    /// The items that its transactions grant.
    public let items: [Item]
    /// The transactions, newest first.
    public let transactions: [RedeemedTransaction]
    /// The notifications, newest first.
    public let notifications: [StatedNotification]
}
