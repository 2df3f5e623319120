import Foundation
import Ledger
import Proofs
import Vocabulary

/// A message to a webhook: a change to a user's items.
package struct WebhookMessage: Codable, Sendable {
    package enum Kind: String, CaseIterable, Codable, Sendable {
        case purchaseGranted = "purchase.granted"
        case purchaseRevoked = "purchase.revoked"
        case purchaseRefunded = "purchase.refunded"
        case purchaseTransferredIn = "purchase.transferredIn"
        case purchaseTransferredOut = "purchase.transferredOut"
        case purchaseExpired = "purchase.expired"
        case subscriptionProductChanged = "subscription.productChanged"
        case subscriptionPlanChosen = "subscription.planChosen"
        case subscriptionPeriodExtended = "subscription.periodExtended"
        case subscriptionRenewalFailed = "subscription.renewalFailed"
        case subscriptionGracePeriodBegan = "subscription.gracePeriodBegan"
        case subscriptionPaused = "subscription.paused"
        case subscriptionAutoRenewDisabled = "subscription.autoRenewDisabled"
        case subscriptionAutoRenewEnabled = "subscription.autoRenewEnabled"
        case itemGiven = "item.given"
        case itemTakenBack = "item.takenBack"
    }

    package struct Content: Codable, Sendable {
        package let user: UserName
        /// The number in the user's audit log. A greater number means a later change.
        package let number: Int64
        /// The actor, as in the audit log.
        package let actor: String
        /// The name of the API key; nil for another actor, and if the ledger does not have the key.
        package var actorName: String?
        package var origin: Origin?
        /// The transaction that was granted, revoked or replaced.
        package var transactionId: String?
        /// The purchase that was transferred, with all its transactions.
        package var originalTransactionId: String?
        package var productId: String?
        /// The grant of an item without a purchase.
        package var grantId: String?
        package var item: Item?
        /// The reason in the team's words. Of a changed product, and of one for the next renewal, the new product; of a pause and of an extended period, its end; of a renewal that is turned off, who
        /// has done it.
        package var reason: String?
        /// The money that the store has paid back, in milliunits of `currency`; nil if the event is no refund, or the amount is unknown.
        package var refundedAmount: Int64?
        package var currency: String?
    }

    package let type: Kind
    /// RFC 3339, UTC.
    package let timestamp: String
    package let data: Content
}

extension WebhookMessage {
    init(_ delivery: WebhookDelivery, _ kind: Kind) {
        let entry = delivery.entry
        let isGrant = [.itemGiven, .itemTakenBack].contains(kind)
        let isTransfer = [.purchaseTransferredIn, .purchaseTransferredOut].contains(kind)
        self.init(
            type: kind, timestamp: entry.happenedAt.rfc3339,
            data: Content(
                user: UserName(issuer: delivery.issuer, name: delivery.name), number: delivery.number,
                actor: entry.actor.description, actorName: delivery.actorName, origin: entry.origin,
                transactionId: isGrant || isTransfer ? nil : entry.reference,
                originalTransactionId: isTransfer ? entry.reference : nil, productId: isGrant ? nil : entry.subject,
                grantId: isGrant ? entry.reference : nil, item: isGrant ? Self.item(entry.subject) : nil,
                reason: entry.reason, refundedAmount: entry.refund?.milliunits, currency: entry.refund?.currency))
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

extension AuditEntry.Event {
    /// The types of the messages about an event, in each format; nil for an event without a message. In RevenueCat's format a
    /// grant may have another type.
    var messageKinds: (till: WebhookMessage.Kind, revenueCat: RevenueCatEvent.Kind)? {
        switch self {
        case .granted: (.purchaseGranted, .nonRenewingPurchase)
        case .revoked: (.purchaseRevoked, .cancellation)
        case .paymentRefunded: (.purchaseRefunded, .cancellation)
        case .transferredIn: (.purchaseTransferredIn, .transfer)
        case .transferredOut: (.purchaseTransferredOut, .transfer)
        // RevenueCat's back ends remove access at this event. After a failed renewal the user no longer owns the item.
        case .expired: (.purchaseExpired, .expiration)
        case .renewalFailed: (.subscriptionRenewalFailed, .expiration)
        case .productChanged: (.subscriptionProductChanged, .productChange)
        case .planChosen: (.subscriptionPlanChosen, .productChange)
        case .periodExtended: (.subscriptionPeriodExtended, .subscriptionExtended)
        case .gracePeriodBegan: (.subscriptionGracePeriodBegan, .billingIssue)
        case .paused: (.subscriptionPaused, .expiration)
        case .autoRenewDisabled: (.subscriptionAutoRenewDisabled, .cancellation)
        case .autoRenewEnabled: (.subscriptionAutoRenewEnabled, .uncancellation)
        case .itemGiven: (.itemGiven, .nonRenewingPurchase)
        case .itemTakenBack: (.itemTakenBack, .expiration)
        case .unitsRevoked, .moved, .assigned, .credited, .refused, .spent, .aliased, .refundAnswered, .erased: nil
        }
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
        case .till(let message): message.type.rawValue
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
