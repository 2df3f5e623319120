import Proofs

/// A purchase event of a subscription: the first purchase or one renewal.
///
/// The App Store identifies the event (`webOrderLineItemId`). Transactions of one event have the same original transaction,
/// product, and beginning or end. Dates count by the second, because app receipts state no fraction. Transactions that share a
/// period because of added seats have one end, so only the beginning tells their events.
struct PurchaseEvent: Hashable {
    private enum Bound: Hashable {
        case beginning, end
    }

    private let original: TransactionKey
    private let identifier: ByteKey
    private let product: ByteKey
    private let bound: Bound
    private let second: Int64

    /// The event of a transaction, by its beginning and by its end. Empty if the App Store has not stated it.
    static func events(of transaction: EntitlementFacts.Transaction) -> [PurchaseEvent] {
        events(
            transaction.event, of: transaction.originalKey, transaction.productIdentifier,
            from: transaction.purchaseDate, to: transaction.isAdditional ? nil : transaction.status.expiresAt)
    }

    static func events(of claim: Claim) -> [PurchaseEvent] {
        events(
            claim.facts?.text(.webOrderLineItemId), of: claim.originalKey, claim.productIdentifier,
            from: claim.purchaseDate,
            to: claim.facts?[.additionalTransactionReason] == nil ? claim.expiresAt : nil)
    }

    private static func events(
        _ identifier: String?,
        of original: TransactionKey,
        _ product: String,
        from beginning: Timestamp,
        to end: Timestamp?
    ) -> [PurchaseEvent] {
        guard let identifier else { return [] }
        return [(Bound.beginning, beginning), (.end, end)].compactMap { bound, date in
            date.map {
                PurchaseEvent(
                    original: original, identifier: ByteKey(identifier), product: ByteKey(product), bound: bound,
                    second: $0.secondsSince1970)
            }
        }
    }
}
