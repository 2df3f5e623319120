import Proofs

extension AppStoreServerAPI {
    /// The version of the requested transaction history.
    package enum HistoryVersion: Sendable {
        case v1
        case v2

        /// True if the history has a transaction. The first version leaves out finished consumables that are not
        /// revoked.
        ///
        /// - Parameter unfinished: The identifiers of the transactions that the app has yet to finish.
        package func includes(_ transaction: Transaction, unfinished: Set<String>) -> Bool {
            switch self {
            case .v1:
                transaction.type != .consumable || transaction.revocation != nil
                    || unfinished.contains(transaction.transactionIdentifier)
            case .v2: true
            }
        }
    }
}
