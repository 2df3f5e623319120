import Foundation
import GRDB
import Proofs

/// A purchase, a renewal or a restoration in the App Store (StoreKit, `Transaction`).
package struct Transaction: Hashable, Sendable, Codable {
    package let transactionIdentifier: String
    /// The first purchase of the same product or subscription group. A first purchase has its own identifier here.
    package let originalTransactionIdentifier: String
    /// The number on Apple's invoice.
    package let orderIdentifier: String
    /// The identifier of a subscription's period; nil for any other product.
    package let webOrderLineItemIdentifier: String?
    /// The customer's App Store account.
    package let account: String
    package let productIdentifier: String
    package let type: ProductType
    package let subscriptionGroupIdentifier: String?
    package let quantity: Int
    package let purchaseDate: Timestamp
    package let originalPurchaseDate: Timestamp
    /// The amount charged.
    package let price: Price
    package let offer: SubscriptionOffer?
    package let reason: TransactionReason
    package let ownership: InAppOwnershipType
    /// The storefront of the purchase, as ISO 3166-1 alpha-3.
    package let storefrontCountryCode: String
    package var expiresDate: Timestamp?
    package var appAccountToken: UUID?
    /// True if the customer upgraded to a higher subscription before the end of the period.
    package var isUpgraded = false
    package var revocation: Revocation?

    /// The revocation of a purchase.
    package struct Revocation: Hashable, Sendable, Codable {
        package let date: Timestamp
        package let reason: RevocationReason
        package let type: RevocationType

        package init(date: Timestamp, reason: RevocationReason, type: RevocationType) {
            self.date = date
            self.reason = reason
            self.type = type
        }
    }

    package init(
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        orderIdentifier: String,
        webOrderLineItemIdentifier: String?,
        account: String,
        productIdentifier: String,
        type: ProductType,
        subscriptionGroupIdentifier: String?,
        quantity: Int,
        purchaseDate: Timestamp,
        originalPurchaseDate: Timestamp,
        price: Price,
        offer: SubscriptionOffer?,
        reason: TransactionReason,
        ownership: InAppOwnershipType,
        storefrontCountryCode: String,
        expiresDate: Timestamp? = nil,
        appAccountToken: UUID? = nil
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.orderIdentifier = orderIdentifier
        self.webOrderLineItemIdentifier = webOrderLineItemIdentifier
        self.account = account
        self.productIdentifier = productIdentifier
        self.type = type
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.price = price
        self.offer = offer
        self.reason = reason
        self.ownership = ownership
        self.storefrontCountryCode = storefrontCountryCode
        self.expiresDate = expiresDate
        self.appAccountToken = appAccountToken
    }

    /// The purchase, as the payment queue shows it.
    var purchase: PaymentTransaction.Purchase {
        PaymentTransaction.Purchase(
            transactionIdentifier: transactionIdentifier,
            originalTransactionIdentifier: originalTransactionIdentifier, purchaseDate: purchaseDate,
            originalPurchaseDate: originalPurchaseDate, price: price)
    }
}

/// The SQL statements on sales. They run inside the caller's transaction of the store's database.
///
/// Each record is JSON, beside the columns that queries use.
struct TransactionRecords {
    let database: Database

    func add(_ transaction: Transaction) throws {
        try database.execute(
            sql: """
                INSERT INTO app_store_transaction
                    (transaction_id, original_transaction_id, order_id, account, product_id, purchase_date, record, change)
                VALUES (?, ?, ?, ?, ?, ?, ?, \(Self.nextChange))
                """,
            arguments: [
                transaction.transactionIdentifier, transaction.originalTransactionIdentifier,
                transaction.orderIdentifier, transaction.account, transaction.productIdentifier,
                transaction.purchaseDate.millisecondsSince1970, try StoreRecord.text(transaction),
            ])
    }

    func update(_ transaction: Transaction) throws {
        try database.execute(
            sql: "UPDATE app_store_transaction SET record = ?, change = \(Self.nextChange) WHERE transaction_id = ?",
            arguments: [try StoreRecord.text(transaction), transaction.transactionIdentifier])
    }

    /// The number of the next change.
    private static let nextChange = """
        (SELECT max(coalesce(max(change), 0), coalesce((SELECT CAST(value AS INTEGER) FROM store_state
            WHERE key = 'last change'), 0)) + 1 FROM app_store_transaction)
        """

    /// Stores the last change number before sales are deleted, so that no number is used twice.
    func storeLastChange() throws {
        try database.execute(
            sql: """
                INSERT INTO store_state (key, value)
                    SELECT 'last change', CAST(coalesce(max(change), 0) AS TEXT) FROM app_store_transaction WHERE true
                ON CONFLICT (key) DO UPDATE
                    SET value = CAST(max(CAST(value AS INTEGER), CAST(excluded.value AS INTEGER)) AS TEXT)
                """)
    }

    /// All transactions of an account, each with the number of its last change, in the order of these numbers.
    func changes(of account: String) throws -> [(change: Int64, transaction: Transaction)] {
        try Row.fetchAll(
            database, sql: "SELECT change, record FROM app_store_transaction WHERE account = ? ORDER BY change",
            arguments: [account]
        ).map { ($0["change"], try StoreRecord.value($0["record"])) }
    }

    /// The accounts that have bought anything.
    func accounts() throws -> [String] {
        try String.fetchAll(database, sql: "SELECT DISTINCT account FROM app_store_transaction")
    }

    func transaction(_ identifier: String) throws -> Transaction? {
        try fetch("transaction_id = ?", [identifier]).first
    }

    /// All transactions of an account, in the order of their sale.
    func transactions(of account: String) throws -> [Transaction] {
        try fetch("account = ?", [account])
    }

    /// The transactions of one subscription or of one non-consumable.
    func transactions(original identifier: String) throws -> [Transaction] {
        try fetch("original_transaction_id = ?", [identifier])
    }

    func transactions(order identifier: String) throws -> [Transaction] {
        try fetch("order_id = ?", [identifier])
    }

    /// The latest period of a subscription.
    func latest(original identifier: String) throws -> Transaction? {
        try fetch("original_transaction_id = ?", [identifier], order: "rowid DESC LIMIT 1").first
    }

    /// A page of transactions, newest first, each with its number in the order of the sales.
    ///
    /// - Parameters:
    ///   - number: The number of the last transaction of the previous page.
    ///   - original: The original transaction identifier, for only the transactions of one purchase.
    func page(
        account: String? = nil,
        original: String? = nil,
        before number: Int64,
        limit: Int
    ) throws -> [(number: Int64, transaction: Transaction)] {
        var (condition, arguments) = ("rowid < ?", [number] as StatementArguments)
        if let account {
            condition += " AND account = ?"
            arguments += [account]
        }
        if let original {
            condition += " AND original_transaction_id = ?"
            arguments += [original]
        }
        return try rows(condition, arguments + [limit])
    }

    /// A transaction with its number in the order of the sales.
    func numbered(_ identifier: String) throws -> [(number: Int64, transaction: Transaction)] {
        try rows("transaction_id = ?", [identifier, 1])
    }

    /// The accounts of the latest sales, the latest first.
    func recentAccounts(among sales: Int) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT account FROM (SELECT rowid AS number, account FROM app_store_transaction ORDER BY rowid DESC LIMIT ?)
                GROUP BY account ORDER BY max(number) DESC
                """, arguments: [sales])
    }

    private func rows(
        _ condition: String,
        _ arguments: StatementArguments
    ) throws -> [(number: Int64, transaction: Transaction)] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT rowid AS number, record FROM app_store_transaction WHERE \(condition)
                ORDER BY rowid DESC LIMIT ?
                """, arguments: arguments
        ).map { ($0["number"], try StoreRecord.value($0["record"])) }
    }

    private func fetch(
        _ condition: String,
        _ arguments: StatementArguments,
        order: String = "rowid"
    ) throws -> [Transaction] {
        try String.fetchAll(
            database, sql: "SELECT record FROM app_store_transaction WHERE \(condition) ORDER BY \(order)",
            arguments: arguments
        ).map { try StoreRecord.value($0) }
    }
}

/// A record of the store's database as JSON.
enum StoreRecord {
    static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
