import Features
import Proofs

/// A redeemed purchase with all statements about it.
package struct KnownPurchaseResource: Codable, Sendable {
    /// The owner. Nil if the user was erased.
    package var owner: UserName?
    package let originalTransactionId: String
    package let origin: Origin
    /// The product of the last transaction.
    package let productId: String
    /// A state of `UserSubscriptionResource`, or `owned`, `familyShared`, `consumed` or `refunded`.
    package let state: String
    /// Dates are RFC 3339, UTC.
    package let since: String
    package var until: String?
    /// True if the subscription renews. Nil if the App Store has not stated it.
    package var renews: Bool?
    package var expirationReason: String?
    /// The items that the transactions grant.
    package let items: [Item]
    /// The transactions, newest first.
    package let transactions: [TransactionResource]
    /// The notifications, newest first, at most 200.
    package let notifications: [StatedNotificationResource]
}
