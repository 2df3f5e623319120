import Catalog
import Ledger
import Proofs

extension LedgerTransaction {
    /// The subscriptions of a user at a moment, in the order of their first purchases.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - isSubscription: Returns true if a product is an auto-renewable subscription, for transactions without a stated type.
    package func subscriptions(
        of user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil,
        at moment: Timestamp,
        isSubscription: (String) -> Bool
    ) throws -> [PurchaseStatus] {
        guard let user = try users.known(user) else { return [] }
        let records = ReadingRecords(database: database)
        let renewals = try records.renewals(of: user)
        let transactions = try records.subscribedTransactions(of: user).filter { _, transaction in
            origins.contains(transaction.origin) && limit?.includes(app: transaction.app) ?? true
                && (transaction.facts[.type] != nil || isSubscription(transaction.productIdentifier))
        }
        let purchases = Dictionary(grouping: transactions) { app, transaction in
            Purchase(
                app: app, origin: transaction.origin, identifier: ByteKey(transaction.originalTransactionIdentifier))
        }
        return purchases.compactMap { purchase, transactions in
            let renewal = renewals.first { renewal in
                purchase
                    == Purchase(
                        app: renewal.app, origin: renewal.origin,
                        identifier: ByteKey(renewal.originalTransactionIdentifier))
            }
            return PurchaseStatus(
                transactions.map(\.transaction), .autoRenewableSubscription, renewal?.renewal, at: moment)
        }.sorted { ($0.since, $0.originalTransactionIdentifier) < ($1.since, $1.originalTransactionIdentifier) }
    }

    /// The key of a purchase of one user.
    private struct Purchase: Hashable {
        /// The number of the app.
        let app: Int64
        let origin: Origin
        /// The identifier of the original transaction.
        let identifier: ByteKey
    }
}
