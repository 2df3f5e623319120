import Foundation
import GRDB
import HTTPSupport
import Proofs

/// A purchase, a renewal or a restoration in the App Store (StoreKit, `Transaction`).
package struct Transaction: Hashable, Sendable, Codable {
    package internal(set) var transactionIdentifier: String
    /// The first purchase of the same product or subscription group. A first purchase has its own identifier here.
    package var originalTransactionIdentifier: String
    /// The original transaction before the subscription was migrated; nil if it was not.
    var previousOriginalTransactionIdentifier: String?
    /// The number on Apple's invoice.
    package internal(set) var orderIdentifier: String
    /// The identifier of a subscription's period; nil for any other product.
    package internal(set) var webOrderLineItemIdentifier: String?
    /// The customer's App Store account.
    package internal(set) var account: String
    package let productIdentifier: String
    package let type: ProductType
    package internal(set) var subscriptionGroupIdentifier: String?
    package let quantity: Int
    package internal(set) var purchaseDate: Timestamp
    package internal(set) var originalPurchaseDate: Timestamp
    /// The amount charged; with seats, the average price of one.
    package internal(set) var price: Price
    package internal(set) var offer: SubscriptionOffer?
    package internal(set) var reason = TransactionReason.purchase
    package var ownership = InAppOwnershipType.purchased
    /// The storefront of the purchase, as ISO 3166-1 alpha-3.
    package let storefrontCountryCode: String
    package var expiresDate: Timestamp?
    /// The billing plan of the period; nil if the catalog has none of the product.
    package internal(set) var billingPlanType: BillingPlanType?
    /// The commitment as it was when the period began.
    package internal(set) var commitment: Commitment?
    /// The seats with their prices; nil for a purchase that states none.
    package internal(set) var seats: Seats?
    /// The reason why other transactions represent the same period; nil for the only one.
    package internal(set) var additionalReason: AdditionalTransactionReason?
    /// The items and terms from the developer's server; nil for a product of the store.
    package internal(set) var advancedCommerceCharge: AdvancedCommerceCharge?
    /// The refund that the developer's server has requested, until it is decided.
    var advancedCommerceRefund: AdvancedCommerceRefundRequest?
    package var appAccountToken: UUID?
    /// True if the customer upgraded to a higher subscription before the end of the period.
    package var isUpgraded = false
    package internal(set) var revocation: Revocation?

    package struct Revocation: Hashable, Sendable, Codable {
        /// The whole price, in thousandths of a percent.
        package static let whole = 100_000

        package let date: Timestamp
        package let reason: RevocationReason
        package let type: RevocationType
        /// The refunded part of the price, in thousandths of a percent; nil if nothing was refunded, or items were.
        package let percentage: Int?
    }

    /// A first purchase.
    package init(
        _ identifier: String,
        orderIdentifier: String,
        account: String,
        productIdentifier: String,
        type: ProductType,
        quantity: Int = 1,
        price: Price,
        storefrontCountryCode: String,
        at now: Timestamp
    ) {
        (transactionIdentifier, originalTransactionIdentifier) = (identifier, identifier)
        self.orderIdentifier = orderIdentifier
        self.account = account
        self.productIdentifier = productIdentifier
        self.type = type
        self.quantity = quantity
        (purchaseDate, originalPurchaseDate) = (now, now)
        self.price = price
        self.storefrontCountryCode = storefrontCountryCode
    }

    /// The purchase, as the payment queue shows it.
    var purchase: PaymentTransaction.Purchase {
        PaymentTransaction.Purchase(
            transactionIdentifier: transactionIdentifier, originalTransactionIdentifier: originalTransactionIdentifier)
    }
}

/// The SQL statements on sales. They run inside the caller's transaction of the store's database.
///
/// Each record is JSON, beside the columns that queries use.
package struct TransactionRecords {
    let database: Database

    /// - Parameter shared: The purchaser's transaction that a member's follows; nil for a purchase.
    func add(_ transaction: Transaction, sharing shared: String? = nil) throws {
        try database.insert(
            [
                "transaction_id": transaction.transactionIdentifier,
                "original_transaction_id": transaction.originalTransactionIdentifier,
                "order_id": transaction.orderIdentifier, "account": transaction.account,
                "product_id": transaction.productIdentifier, "purchase_date": transaction.purchaseDate,
                "shared_transaction_id": shared, "record": try LocalRecord.text(transaction),
                "change": try lastChange() + 1,
            ], into: "app_store_transaction")
    }

    func update(_ transaction: Transaction) throws {
        try database.execute(
            literal: """
                UPDATE app_store_transaction SET record = \(LocalRecord.text(transaction)), change = \(lastChange() + 1)
                WHERE transaction_id = \(transaction.transactionIdentifier)
                """)
    }

    /// Notes that a customer waits for the decision on a refund, or waits no more. No device sees it, so the sale does not change.
    func setRefundRequested(_ isRequested: Bool, of identifier: String) throws {
        try database.execute(
            literal:
                "UPDATE app_store_transaction SET refund_requested = \(isRequested) WHERE transaction_id = \(identifier)"
        )
    }

    /// True if the customer waits for the decision on a refund.
    func isRefundRequested(of identifier: String) throws -> Bool {
        try SQLRequest<Bool>(
            "SELECT refund_requested FROM app_store_transaction WHERE transaction_id = \(identifier)"
        ).fetchOne(database) ?? false
    }

    /// The number of the last change, also of sales that are deleted.
    private func lastChange() throws -> Int64 {
        max(
            try Int64.fetchOne(database, sql: "SELECT max(change) FROM app_store_transaction") ?? 0,
            try StateRecords(database: database).lastChange())
    }

    /// Stores the last change number before sales are deleted, so that no number is used twice.
    func storeLastChange() throws { try StateRecords(database: database).setLastChange(lastChange()) }

    /// All transactions of an account, each with the number of its last change, in the order of these numbers.
    func changes(of account: String) throws -> [(change: Int64, transaction: Transaction)] {
        try SQLRequest<Row>(
            "SELECT change, record FROM app_store_transaction WHERE account = \(account) ORDER BY change"
        ).fetchAll(database).map { ($0["change"], try LocalRecord.value($0["record"])) }
    }

    /// The accounts that have bought anything.
    func accounts() throws -> [String] {
        try String.fetchAll(database, sql: "SELECT DISTINCT account FROM app_store_transaction")
    }

    func transaction(_ identifier: String) throws -> Transaction? {
        try fetch("transaction_id = \(identifier)").first
    }

    /// All transactions of an account, in the order of their sale.
    package func transactions(of account: String) throws -> [Transaction] {
        try fetch("account = \(account)")
    }

    /// The transactions of one subscription or of one non-consumable.
    func transactions(original identifier: String) throws -> [Transaction] {
        try fetch("original_transaction_id = \(identifier)")
    }

    func transactions(order identifier: String) throws -> [Transaction] {
        try fetch("order_id = \(identifier)")
    }

    /// The latest period of a subscription.
    func latest(original identifier: String) throws -> Transaction? {
        try fetch("original_transaction_id = \(identifier)", order: "rowid DESC LIMIT 1").first
    }

    /// The accounts of the latest 200 sales, the latest first.
    package func recentAccounts() throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT account FROM (SELECT rowid AS number, account FROM app_store_transaction ORDER BY rowid DESC LIMIT 200)
                GROUP BY account ORDER BY max(number) DESC
                """)
    }

    /// Transactions, newest first, each with its number in the order of the sales.
    func rows(_ condition: SQL, limit: Int) throws -> [(number: Int64, transaction: Transaction)] {
        try SQLRequest<Row>(
            """
            SELECT rowid AS number, record FROM app_store_transaction WHERE \(condition)
            ORDER BY rowid DESC LIMIT \(limit)
            """
        ).fetchAll(database).map { ($0["number"], try LocalRecord.value($0["record"])) }
    }

    private func fetch(_ condition: SQL, order: SQL = "rowid") throws -> [Transaction] {
        try database.records("SELECT record FROM app_store_transaction WHERE \(condition) ORDER BY \(order)")
    }
}
