import GRDB
import Proofs

extension Books {
    /// - Throws: `StoreError`, `saleNotFound`.
    package func listedTransaction(_ transactionIdentifier: String) throws -> ListedTransaction {
        guard let found = try transactions.rows("transaction_id = \(transactionIdentifier)", limit: 1).first
        else { throw StoreError.saleNotFound(transactionIdentifier) }
        return try ListedTransaction(found, in: self)
    }

    /// The subscriptions of an account, in the order of their first purchases.
    package func subscriptionSummaries(of account: String) throws -> [SubscriptionSummary] {
        try subscriptions.subscriptions(of: account).map { SubscriptionSummary($0, terms) }
    }

    /// A page of transactions, newest first.
    ///
    /// - Parameters:
    ///   - account: An account; nil for all.
    ///   - original: The original transaction identifier, for only the transactions of one purchase.
    ///   - product: The identifier of a product; nil for all.
    ///   - state: A state; nil for all.
    ///   - number: The number of the last transaction of the previous page; nil for the first page.
    package func listedTransactions(
        of account: String? = nil,
        original: String? = nil,
        product: String? = nil,
        in state: ListedState? = nil,
        before number: Int64? = nil,
        limit: Int
    ) throws -> [ListedTransaction] {
        var condition: SQL = "rowid < \(number ?? .max)"
        if let account { condition += " AND account = \(account)" }
        if let original { condition += " AND original_transaction_id = \(original)" }
        if let product { condition += " AND product_id = \(product)" }
        if let state { condition += " AND \(state.condition)" }
        return try transactions.rows(condition, limit: limit).map { try ListedTransaction($0, in: self) }
    }
}

/// A state by which a list of transactions is filtered.
package enum ListedState: String, Sendable, CaseIterable {
    /// The app has not finished the transaction.
    case unfinished
    /// The customer waits for the decision on a refund.
    case refundRequested
    case revoked
    /// The subscription is paid.
    case subscribed
    /// The subscription could not be charged, and the store tries again.
    case unpaid

    fileprivate var condition: SQL {
        switch self {
        case .unfinished:
            "transaction_id IN (SELECT transaction_id FROM payment_transaction WHERE state <> 'finished')"
        case .refundRequested: "refund_requested"
        case .revoked: "json_extract(record, '$.revocation') IS NOT NULL"
        case .subscribed: Self.subscription("json_extract(record, '$.state.subscribed') IS NOT NULL")
        case .unpaid:
            Self.subscription(
                """
                coalesce(json_extract(record, '$.state.inGracePeriod'), json_extract(record, '$.state.inBillingRetryPeriod'))
                    IS NOT NULL
                """)
        }
    }

    private static func subscription(_ condition: SQL) -> SQL {
        "original_transaction_id IN (SELECT original_transaction_id FROM subscription WHERE \(condition))"
    }
}

/// A transaction in a list, with its payment and its subscription. It is a class, so throwing functions can return it.
package final class ListedTransaction: Sendable {
    /// The number in the order of the sales. Later transactions have greater numbers.
    package let number: Int64
    package let transaction: Transaction
    /// The newest transaction of the payment queue for it; nil if the queue never had it, such as for a renewal.
    package let payment: QueuedTransaction?
    /// The subscription; nil for any other product.
    package let subscription: SubscriptionSummary?
    /// True if the customer waits for the decision on a refund.
    package let isRefundRequested: Bool
    /// True if another member of the family can get the purchase.
    package let isShareable: Bool
    /// True if a member can accept Apple's invitation to a seat.
    let hasFreeSeat: Bool

    fileprivate init(_ numbered: (number: Int64, transaction: Transaction), in books: Books) throws {
        (number, transaction) = numbered
        payment = try books.payments.transactions(showing: transaction.transactionIdentifier).last
        let stored = try books.subscriptionOrNone(of: transaction)
        subscription = stored.map { SubscriptionSummary($0, books.terms) }
        isRefundRequested = try books.transactions.isRefundRequested(of: transaction.transactionIdentifier)
        hasFreeSeat = try stored.map(books.hasFreeSeat) ?? false
        // The name of no account.
        isShareable = try books.isShareable(transaction, with: "")
    }
}

/// A customer's subscription with the terms of its next renewal, for people.
@dynamicMemberLookup
package struct SubscriptionSummary: Hashable, Sendable {
    private let subscription: CustomerSubscription
    /// The price of the next renewal, with all its seats; nil if it does not renew, or if another customer pays.
    package let renewalPrice: Price?
    /// The offer of the next renewal; nil for the standard price.
    package let renewalOffer: SubscriptionOffer.Kind?
    /// True if the number of seats can change.
    let isSoldWithSeats: Bool

    init(_ subscription: CustomerSubscription, _ terms: SubscriptionTerms) {
        let renewal = subscription.willAutoRenew ? subscription.renewalTerms(terms) : nil
        self.subscription = subscription
        let renewalPrice = renewal.map {
            Price(milliunits: $0.seats?.amount ?? $0.price.milliunits, currency: $0.price.currency)
        }
        self.renewalPrice = subscription.ownership == .purchased ? renewalPrice : nil
        renewalOffer = renewal?.offer?.kind
        isSoldWithSeats =
            subscription.commitment == nil
            && subscription.product(subscription.productIdentifier, terms)?.subscription?.multiSeat.isEnabled == true
    }

    package subscript<Value>(dynamicMember path: KeyPath<CustomerSubscription, Value>) -> Value {
        subscription[keyPath: path]
    }
}
