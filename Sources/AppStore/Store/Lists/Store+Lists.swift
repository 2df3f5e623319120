import Foundation
import Proofs

/// The lists for people: a bounded number of elements, the newest first.
extension Store {
    /// The transactions of all accounts, or of one, newest first.
    ///
    /// - Parameters:
    ///   - number: The number of the last transaction of the previous page; nil for the first page.
    ///   - original: The original transaction identifier, for only the transactions of one purchase.
    package func listedTransactions(
        of account: String? = nil,
        original: String? = nil,
        before number: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [ListedTransaction] {
        try read { books in
            try books.transactions.page(
                account: account, original: original, before: number ?? .max, limit: limit
            ).map(books.listed)
        }
    }

    /// - Throws: `StoreError`, `saleNotFound`.
    package func listedTransaction(_ transactionIdentifier: String) throws(StoreError) -> ListedTransaction {
        try read { books in
            guard let found = try books.transactions.numbered(transactionIdentifier).first else {
                throw StoreError.saleNotFound(transactionIdentifier)
            }
            return try books.listed(found)
        }
    }

    /// The payment queues of all accounts, or of one, newest first.
    ///
    /// - Parameters:
    ///   - isUnfinished: True for only the transactions that the app has not finished.
    ///   - number: The number of the last transaction of the previous page; nil for the first page.
    package func queuedTransactions(
        of account: String? = nil,
        isUnfinished: Bool = false,
        before number: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [QueuedTransaction] {
        try read {
            try $0.payments.page(account: account, isUnfinished: isUnfinished, before: number ?? .max, limit: limit)
        }
    }

    /// - Throws: `StoreError`, `transactionNotFound`.
    package func queuedTransaction(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try read { books in
            guard let queued = try books.payments.transaction(identifier) else {
                throw StoreError.transactionNotFound(identifier)
            }
            return queued
        }
    }

    /// The subscriptions of an account, in the order of their first purchases.
    package func subscriptions(of account: String) throws(StoreError) -> [SubscriptionSummary] {
        try read { books in
            try books.subscriptions.subscriptions(of: account).map { SubscriptionSummary($0, books.terms) }
        }
    }

    /// The accounts of the latest 200 sales, the latest first.
    package func recentAccounts() throws(StoreError) -> [String] {
        try read { try $0.transactions.recentAccounts(among: 200) }
    }

    /// The notifications, newest first.
    ///
    /// - Parameter number: The number of the last notification of the previous page; nil for the first page.
    package func listedNotifications(
        before number: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [ListedNotification] {
        try read { try $0.notifications.page(before: number ?? .max, limit: limit) }
    }

    /// - Throws: `StoreError`, `notificationNotFound`.
    package func listedNotification(_ notificationUUID: UUID) throws(StoreError) -> ListedNotification {
        try read { books in
            guard let found = try books.notifications.listed(notificationUUID) else {
                throw StoreError.notificationNotFound(notificationUUID)
            }
            return found
        }
    }
}

extension Books {
    fileprivate func listed(_ numbered: (number: Int64, transaction: Transaction)) throws -> ListedTransaction {
        let transaction = numbered.transaction
        let product = configuration.product(transaction.productIdentifier)
        return ListedTransaction(
            number: numbered.number, transaction: transaction,
            payment: try payments.latest(showing: transaction.transactionIdentifier)?.transaction,
            subscription: try subscriptionOrNone(of: transaction).map { SubscriptionSummary($0, terms) },
            // The name of no account.
            isShareable: (try? transaction.checkShareable(with: "", product: product)) != nil)
    }
}
