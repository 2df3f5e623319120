import Commerce
import Ledger

extension LedgerTransaction {
    /// The subscriptions of a user at a moment, by their first purchases.
    ///
    /// - Parameters:
    ///   - origins: The origins whose purchases count.
    ///   - isSubscription: Whether a product is a subscription that renews, for transactions that do not say so.
    public func subscriptions(
        of user: User,
        counting origins: Set<Origin>,
        at moment: Timestamp,
        isSubscription: (String) -> Bool
    ) throws -> [SubscriptionStatus] {
        guard let user = try users.known(user) else { return [] }
        let records = ReadingRecords(database: database)
        let renewals = try records.renewals(of: user)
        let transactions = try records.subscribedTransactions(of: user).filter { transaction in
            origins.contains(transaction.origin)
                && (transaction.facts[.type] != nil || isSubscription(transaction.productIdentifier))
        }
        return Dictionary(grouping: transactions) { [$0.originalTransactionIdentifier, $0.origin.rawValue] }.values
            .compactMap { transactions in
                let renewal = renewals.first { renewal in
                    renewal.originalTransactionIdentifier == transactions.first?.originalTransactionIdentifier
                        && renewal.origin == transactions.first?.origin
                }
                return SubscriptionStatus(transactions, renewal?.renewal, at: moment)
            }.sorted { ($0.since, $0.originalTransactionIdentifier) < ($1.since, $1.originalTransactionIdentifier) }
    }
}
