import Proofs

/// The transactions of an app receipt.
package enum ReceiptContents {
    /// The identifiers of the transactions that the app has yet to finish.
    package static func unfinished(in queue: [PaymentTransaction]) -> Set<String> {
        Set(queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.transactionIdentifier))
    }

    /// The transactions of a history that the receipt has: the unfinished ones, every period of a subscription, and the
    /// latest transaction of each non-consumable.
    ///
    /// - Parameter history: All transactions of the account, the oldest first.
    package static func transactions(of history: [Transaction], unfinished: Set<String>) -> [Transaction] {
        let latest = Dictionary(
            history.map { ($0.productIdentifier, $0.transactionIdentifier) }, uniquingKeysWith: { $1 })
        return history.filter { transaction in
            if unfinished.contains(transaction.transactionIdentifier) { return true }
            return switch transaction.type {
            case .consumable: false
            case .autoRenewableSubscription, .nonRenewingSubscription: true
            case .nonConsumable: latest[transaction.productIdentifier] == transaction.transactionIdentifier
            }
        }
    }
}
