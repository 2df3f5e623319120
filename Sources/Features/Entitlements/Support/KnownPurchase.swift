import Proofs

/// A redeemed purchase, with the statements about it.
package struct KnownPurchase: Hashable, Sendable {
    /// Nil if the user was erased.
    package let owner: User?
    /// The bundle identifier of the app that sold it.
    package var app: String? { transactions.first?.app }
    package let status: PurchaseStatus
    /// The items that its transactions grant.
    package let items: [Item]
    /// The transactions, newest first.
    package let transactions: [RedeemedTransaction]
    /// The notifications, newest first.
    package let notifications: [StatedNotification]
}
