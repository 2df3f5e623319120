import Proofs

/// The protocol's customer info: everything that an app learns about a customer.
package struct CustomerInfo: Hashable, Sendable {
    /// The store page on which customers manage their subscriptions.
    package static let managementURL = "https://apps.apple.com/account/subscriptions"

    package var requestDate: Timestamp
    var originalAppUserIdentifier: String
    package var firstSeen: Timestamp
    package var lastSeen: Timestamp
    /// Nil unless a subscription of the App Store is active.
    package var managementURL: String?
    package var originalApplicationVersion: String?
    package var originalPurchaseDate: Timestamp?
    /// The latest period of each subscription, by product.
    package var subscriptions: [ByteKey: Subscription] = [:]
    /// The other purchases, by product. The oldest comes first.
    package var purchases: [ByteKey: [Purchase]] = [:]
    package var entitlements: [ByteKey: Entitlement] = [:]
    package var attributes: [CustomerAttribute] = []
}
