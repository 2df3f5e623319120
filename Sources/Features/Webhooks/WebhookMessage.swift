import Foundation
import Ledger
import Proofs
import Vocabulary

/// A message to a webhook: a change to a user's items.
package struct WebhookMessage: Codable, Sendable {
    package struct Content: Codable, Sendable {
        package let user: UserName
        /// The number in the user's audit log. A greater number means a later change.
        package let number: Int64
        /// The actor, as in the audit log.
        package let actor: String
        /// The name of the API key; nil for another actor, and if the ledger does not have the key.
        package var actorName: String?
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
    }

    /// The type, such as `purchase.granted`.
    package let type: String
    /// RFC 3339, UTC.
    package let timestamp: String
    package let data: Content
}

extension WebhookMessage {
    /// - Returns: Nil for an event without a message.
    init?(_ delivery: WebhookDelivery) {
        let (entry, rule) = (delivery.entry, delivery.entry.event.rule)
        guard let type = rule.message else { return nil }
        var data = Content(
            user: UserName(issuer: delivery.issuer, name: delivery.name), number: delivery.number,
            actor: entry.actor.description, actorName: delivery.actorName, origin: entry.origin, reason: entry.reason,
            refundedAmount: entry.refund?.milliunits, currency: entry.refund?.currency)
        switch rule.object {
        case .transaction: (data.transactionId, data.productId) = (entry.reference, entry.subject)
        case .purchase: (data.originalTransactionId, data.productId) = (entry.reference, entry.subject)
        case .grant: (data.grantId, data.item) = (entry.reference, Self.item(entry.subject))
        case .user, .other: (data.reference, data.subject) = (entry.reference, entry.subject)
        }
        self.init(type: type, timestamp: entry.happenedAt.rfc3339, data: data)
    }

    /// Parses the item in an entry of the audit log.
    private static func item(_ text: String) -> Item? {
        guard let space = text.lastIndex(of: " "), let number = Int(text[space...].dropFirst()) else { return nil }
        return Item(collection: String(text[..<space]), number: number)
    }

    /// The signed bytes of the message, the same in each attempt.
    func body() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self))
    }
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
package enum WebhookContent: Sendable {
    case till(WebhookMessage)
    case revenueCat(RevenueCatEvent)

    /// The type of the message, such as `purchase.granted` or `INITIAL_PURCHASE`.
    package var type: String {
        switch self {
        case .till(let message): message.type
        case .revenueCat(let event): event.kind.rawValue
        }
    }

    /// The signed bytes of the message.
    func body() throws -> [UInt8] {
        switch self {
        case .till(let message): try message.body()
        case .revenueCat(let event): Array(event.text.utf8)
        }
    }
}
