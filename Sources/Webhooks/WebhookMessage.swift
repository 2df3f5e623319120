import Commerce
import Foundation
import Ledger

/// What a back end is told: that something has changed what a user owns.
public struct WebhookMessage: Encodable, Sendable {
    public enum Kind: String, Encodable, Sendable {
        case purchaseGranted = "purchase.granted"
        case purchaseRevoked = "purchase.revoked"
        case purchaseTransferredIn = "purchase.transferredIn"
        case purchaseTransferredOut = "purchase.transferredOut"
        case itemGiven = "item.given"
        case itemTakenBack = "item.takenBack"

        /// - Returns: nil for what nobody is told of.
        init?(_ event: AuditEntry.Event) {
            switch event {
            case .granted: self = .purchaseGranted
            case .revoked: self = .purchaseRevoked
            case .transferredIn: self = .purchaseTransferredIn
            case .transferredOut: self = .purchaseTransferredOut
            case .itemGiven: self = .itemGiven
            case .itemTakenBack: self = .itemTakenBack
            case .refused, .spent, .erased: return nil
            }
        }
    }

    public struct Name: Encodable, Sendable {
        /// Empty where the team's own back end gives the name.
        let issuer: String
        let name: String
    }

    public struct Content: Encodable, Sendable {
        let user: Name
        /// Of the entry, in the user's audit log: what has the greater one happened later.
        let number: Int64
        /// Who has done it, as the audit log says it.
        let actor: String
        /// Of a purchase.
        let origin: Origin?
        /// Of a purchase that was granted or revoked.
        let transactionId: String?
        /// Of a purchase that has another owner now, with all its transactions.
        let originalTransactionId: String?
        let productId: String?
        /// Of an item that was given without a purchase.
        let grantId: String?
        let item: Item?
        /// Why, in the team's words; absent where nobody has said.
        let reason: String?
    }

    public let type: Kind
    /// When it has happened, as RFC 3339 has it.
    let timestamp: String
    let data: Content

    init(_ delivery: WebhookDelivery, _ kind: Kind) {
        let entry = delivery.entry
        let (isGrant, isTransfer) =
            switch kind {
            case .itemGiven, .itemTakenBack: (true, false)
            case .purchaseTransferredIn, .purchaseTransferredOut: (false, true)
            case .purchaseGranted, .purchaseRevoked: (false, false)
            }
        type = kind
        timestamp = entry.happenedAt.rfc3339
        data = Content(
            user: Name(issuer: delivery.issuer, name: delivery.name), number: delivery.number,
            actor: entry.actor.description, origin: entry.origin,
            transactionId: isGrant || isTransfer ? nil : entry.reference,
            originalTransactionId: isTransfer ? entry.reference : nil, productId: isGrant ? nil : entry.subject,
            grantId: isGrant ? entry.reference : nil, item: isGrant ? Self.item(entry.subject) : nil,
            reason: entry.reason)
    }

    /// As the audit log names it.
    private static func item(_ text: String) -> Item? {
        guard let space = text.lastIndex(of: " "), let number = Int(text[space...].dropFirst()) else { return nil }
        return Item(collection: String(text[..<space]), number: number)
    }

    /// The same bytes whenever it is sent.
    func body() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(self))
    }
}
