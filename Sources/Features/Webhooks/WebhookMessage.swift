import Entitlements
import Ledger
import Proofs
import Vocabulary

/// A message to a webhook: a change to a user's items, and what the user has after it.
package struct WebhookMessage: Sendable {
    package struct Content: Sendable {
        package let user: UserName
        /// The number in the user's audit log. A greater number means a later change.
        package let number: Int64
        /// The actor, as in the audit log.
        package let actor: String
        /// The name of the API key; nil for another actor, and if the ledger does not have the key.
        package var actorName: String?
        package var app: String?
        package var origin: Origin?
        package var transactionId: String?
        /// The purchase that was transferred, with all its transactions.
        package var originalTransactionId: String?
        package var productId: String?
        /// The grant of an item without a purchase.
        package var grantId: String?
        package var item: Item?
        /// The thing that another event is about.
        package var reference: String?
        package var subject: String?
        /// `EventRule.Reason`
        package var reason: String?
        /// The money that the store has paid back, in milliunits of `currency`; nil if the event is no refund, or the amount is unknown.
        package var refundedAmount: Int64?
        package var currency: String?
        /// Nil if the form does not state it, and for an invalid name.
        package var state: WebhookState?
    }

    package let type: MessageType
    package let happenedAt: Timestamp
    package let data: Content
}

extension WebhookMessage {
    init(_ type: MessageType, _ delivery: WebhookDelivery, _ state: WebhookState?) {
        let (entry, rule) = (delivery.entry, delivery.entry.event.rule)
        var data = Content(
            user: UserName(issuer: delivery.issuer, name: delivery.name), number: delivery.number,
            actor: entry.actor.description, actorName: delivery.actorName, app: entry.app, origin: entry.origin,
            reason: entry.reason, refundedAmount: entry.refund?.milliunits, currency: entry.refund?.currency,
            state: state)
        switch rule.object {
        case .transaction: (data.transactionId, data.productId) = (entry.reference, entry.subject)
        case .purchase: (data.originalTransactionId, data.productId) = (entry.reference, entry.subject)
        case .grant: (data.grantId, data.item) = (entry.reference, Self.item(entry.subject))
        case .user, .other: (data.reference, data.subject) = (entry.reference, entry.subject)
        }
        self.init(type: type, happenedAt: entry.happenedAt, data: data)
    }

    /// Parses the item in an entry of the audit log.
    private static func item(_ text: String) -> Item? {
        guard let space = text.lastIndex(of: " "), let number = Int(text[space...].dropFirst()) else { return nil }
        return Item(collection: String(text[..<space]), number: number)
    }
}

extension MessageType {
    /// The type of a message about an event with several: the purchase decides it, as it decides the type in RevenueCat's format.
    package init(_ facts: RevenueCatFacts) {
        switch facts.entry.event {
        case .revoked:
            // A refund of zero took only the goods: the money has an event of its own.
            let isRefund = facts.reason == .customerSupport && facts.entry.refund?.milliunits != 0
            self = isRefund ? .purchaseRefunded : .purchaseRevoked
        default:
            self =
                switch RevenueCatType.granted(facts) {
                case .refundReversed: .purchaseReinstated
                case .initialPurchase: .subscriptionPurchased
                case .renewal: facts.isAfterPause ? .subscriptionResumed : .subscriptionRenewed
                default: .productPurchased
                }
        }
    }
}

/// The possessions of a user, in the words of the API's answers.
package struct WebhookState: Sendable {
    package let items: [OwnedItem]
    package let subscriptions: [PurchaseStatus]
}

package struct UserName: Codable, Sendable {
    /// The issuer. Empty if the team's own back end names the user.
    package let issuer: String
    package let name: String
}

extension UserName {
    package init(_ user: User) {
        self.init(issuer: user.issuer, name: user.name)
    }
}

/// The content of a message in the format of its endpoint.
package indirect enum WebhookContent: Sendable {
    case till(WebhookMessage)
    case revenueCat(RevenueCatEvent)

    /// The type of the message, such as `subscription.renewed` or `RENEWAL`.
    package var type: String {
        switch self {
        case .till(let message): message.type.rawValue
        case .revenueCat(let event): event.kind.rawValue
        }
    }
}
