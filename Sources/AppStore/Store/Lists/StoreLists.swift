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
            payment: try payments.transactions(showing: transaction.transactionIdentifier).last?.transaction,
            subscription: try subscriptionOrNone(of: transaction).map { SubscriptionSummary($0, terms) },
            // The name of no account.
            isShareable: (try? transaction.checkShareable(with: "", product: product)) != nil)
    }
}

/// A transaction in a list, with its payment and its subscription. It is a class, so throwing functions can return it.
package final class ListedTransaction: Sendable {
    /// The number in the order of the sales. Later transactions have greater numbers.
    package let number: Int64
    package let transaction: Transaction
    /// The newest transaction of the payment queue for it; nil if the queue never had it, such as for a renewal.
    package let payment: PaymentTransaction?
    /// The subscription; nil for any other product.
    package let subscription: SubscriptionSummary?
    /// True if a member of the family can get the purchase.
    package let isShareable: Bool

    init(
        number: Int64,
        transaction: Transaction,
        payment: PaymentTransaction?,
        subscription: SubscriptionSummary?,
        isShareable: Bool
    ) {
        self.number = number
        self.transaction = transaction
        self.payment = payment
        self.subscription = subscription
        self.isShareable = isShareable
    }
}

/// A notification in a list. It is a class, so throwing functions can return it.
package final class ListedNotification: Sendable {
    /// The number in the order of creation. Later notifications have greater numbers.
    package let number: Int64
    package let notification: StoreNotification

    init(number: Int64, notification: StoreNotification) {
        self.number = number
        self.notification = notification
    }
}

/// A customer's subscription with the terms of its next renewal, for people.
@dynamicMemberLookup
package struct SubscriptionSummary: Hashable, Sendable {
    private let subscription: CustomerSubscription
    /// The price of the next renewal; nil if it does not renew.
    package let renewalPrice: Price?
    /// The offer of the next renewal; nil for the standard price.
    package let renewalOffer: SubscriptionOffer.Kind?

    init(_ subscription: CustomerSubscription, _ terms: SubscriptionTerms) {
        let renewal = subscription.isAutoRenewing ? subscription.renewalTerms(terms) : nil
        self.subscription = subscription
        renewalPrice = renewal?.price
        renewalOffer = renewal?.offer?.kind
    }

    package subscript<Value>(dynamicMember path: KeyPath<CustomerSubscription, Value>) -> Value {
        subscription[keyPath: path]
    }
}
