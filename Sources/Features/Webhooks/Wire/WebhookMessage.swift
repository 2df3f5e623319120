import Proofs

/// A message to a webhook: a change to a user's items.
public struct WebhookMessage: Codable, Sendable {
    /// The type of a message.
    public enum Kind: String, Codable, Sendable {
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
    public struct Content: Codable, Sendable {
        public let user: UserName
        /// The number in the user's audit log. A greater number means a later change.
        public let number: Int64
        /// The actor, as in the audit log.
        public let actor: String
        /// The name of the API key; nil for another actor, and if the ledger does not have the key.
        public let actorName: String?
        /// The origin of a purchase.
        public let origin: Origin?
        /// The transaction that was granted, revoked or replaced.
        public let transactionId: String?
        /// The purchase that was transferred, with all its transactions.
        public let originalTransactionId: String?
        public let productId: String?
        /// The grant of an item without a purchase.
        public let grantId: String?
        public let item: Item?
        /// The reason in the team's words. Of a changed product, the new product.
        public let reason: String?

        public init(
            user: UserName,
            number: Int64,
            actor: String,
            actorName: String? = nil,
            origin: Origin? = nil,
            transactionId: String? = nil,
            originalTransactionId: String? = nil,
            productId: String? = nil,
            grantId: String? = nil,
            item: Item? = nil,
            reason: String? = nil
        ) {
            self.user = user
            self.number = number
            self.actor = actor
            self.actorName = actorName
            self.origin = origin
            self.transactionId = transactionId
            self.originalTransactionId = originalTransactionId
            self.productId = productId
            self.grantId = grantId
            self.item = item
            self.reason = reason
        }
    }

    public let type: Kind
    /// RFC 3339, UTC.
    public let timestamp: String
    public let data: Content

    public init(type: Kind, timestamp: String, data: Content) {
        self.type = type
        self.timestamp = timestamp
        self.data = data
    }
}
