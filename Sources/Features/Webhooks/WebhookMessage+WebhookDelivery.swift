import Foundation
import Ledger
import Proofs

extension WebhookMessage {
    init(_ delivery: WebhookDelivery, _ kind: Kind) {
        let entry = delivery.entry
        let (isGrant, isTransfer) =
            switch kind {
            case .itemGiven, .itemTakenBack: (true, false)
            case .purchaseTransferredIn, .purchaseTransferredOut: (false, true)
            case .purchaseGranted, .purchaseRevoked, .purchaseExpired, .subscriptionProductChanged,
                .subscriptionRenewalFailed, .subscriptionGracePeriodBegan, .subscriptionAutoRenewDisabled,
                .subscriptionAutoRenewEnabled:
                (false, false)
            }
        self.init(
            type: kind, timestamp: entry.happenedAt.rfc3339,
            data: Content(
                user: UserName(issuer: delivery.issuer, name: delivery.name), number: delivery.number,
                actor: entry.actor.description, actorName: delivery.actorName, origin: entry.origin,
                transactionId: isGrant || isTransfer ? nil : entry.reference,
                originalTransactionId: isTransfer ? entry.reference : nil, productId: isGrant ? nil : entry.subject,
                grantId: isGrant ? entry.reference : nil, item: isGrant ? Self.item(entry.subject) : nil,
                reason: entry.reason))
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

extension WebhookMessage.Kind {
    /// - Returns: Nil for an event without a message.
    init?(_ event: AuditEntry.Event) {
        switch event {
        case .granted: self = .purchaseGranted
        case .revoked: self = .purchaseRevoked
        case .transferredIn: self = .purchaseTransferredIn
        case .transferredOut: self = .purchaseTransferredOut
        case .expired: self = .purchaseExpired
        case .productChanged: self = .subscriptionProductChanged
        case .renewalFailed: self = .subscriptionRenewalFailed
        case .gracePeriodBegan: self = .subscriptionGracePeriodBegan
        case .autoRenewDisabled: self = .subscriptionAutoRenewDisabled
        case .autoRenewEnabled: self = .subscriptionAutoRenewEnabled
        case .itemGiven: self = .itemGiven
        case .itemTakenBack: self = .itemTakenBack
        case .assigned, .credited, .refused, .spent, .aliased, .erased: return nil
        }
    }
}
