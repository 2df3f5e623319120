import Proofs

/// The restoration of one purchase (StoreKit, `restoreCompletedTransactions`).
package enum Restoration: Hashable, Sendable {
    /// A non-consumable gets another transaction.
    case repeated(Transaction)
    /// The latest period of a subscription is delivered again.
    case period(Transaction)

    /// The restorations for an account, in the order of its purchases. Each purchase that lasts is restored, unless the
    /// queue has an unfinished transaction of it.
    ///
    /// - Parameters:
    ///   - history: All transactions of the account, the oldest first.
    ///   - queue: The transactions of its payment queue.
    package static func all(of history: [Transaction], queue: [PaymentTransaction]) -> [Restoration] {
        var handled = Set(
            queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.originalTransactionIdentifier))
        return history.compactMap { transaction -> Restoration? in
            guard handled.insert(transaction.originalTransactionIdentifier).inserted else { return nil }
            switch transaction.type {
            case .nonConsumable: return transaction.revocation == nil ? .repeated(transaction) : nil
            case .autoRenewableSubscription:
                return history.last {
                    $0.originalTransactionIdentifier == transaction.originalTransactionIdentifier
                }.map { .period($0) }
            case .consumable, .nonRenewingSubscription: return nil
            }
        }
    }
}
