import Proofs

/// A message to a webhook: a change to a user's items.
package struct WebhookMessage: Codable, Sendable {
    /// The type of a message.
    package enum Kind: String, Codable, Sendable {
        case purchaseGranted = "purchase.granted"
        case purchaseRevoked = "purchase.revoked"
        case purchaseTransferredIn = "purchase.transferredIn"
        case purchaseTransferredOut = "purchase.transferredOut"
        case purchaseExpired = "purchase.expired"
        case subscriptionProductChanged = "subscription.productChanged"
        case subscriptionRenewalFailed = "subscription.renewalFailed"
        case subscriptionGracePeriodBegan = "subscription.gracePeriodBegan"
        case subscriptionAutoRenewDisabled = "subscription.autoRenewDisabled"
        case subscriptionAutoRenewEnabled = "subscription.autoRenewEnabled"
        case itemGiven = "item.given"
        case itemTakenBack = "item.takenBack"
    }

    /// The change and its user.
    package struct Content: Codable, Sendable {
        package let user: UserName
        /// The number in the user's audit log. A greater number means a later change.
        package let number: Int64
        /// The actor, as in the audit log.
        package let actor: String
        /// The name of the API key; nil for another actor, and if the ledger does not have the key.
        package var actorName: String?
        /// The origin of a purchase.
        package var origin: Origin?
        /// The transaction that was granted, revoked or replaced.
        package var transactionId: String?
        /// The purchase that was transferred, with all its transactions.
        package var originalTransactionId: String?
        package var productId: String?
        /// The grant of an item without a purchase.
        package var grantId: String?
        package var item: Item?
        /// The reason in the team's words. Of a changed product, the new product.
        package var reason: String?
    }

    package let type: Kind
    /// RFC 3339, UTC.
    package let timestamp: String
    package let data: Content
}
