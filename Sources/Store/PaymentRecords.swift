import Commerce
import GRDB

/// The payment queue's statements, inside a transaction of the store's database that the caller holds.
struct PaymentRecords {
    let database: Database

    /// Adds a payment to an account's queue, purchasing.
    func add(_ payment: Payment, account: String, outcome: PaymentOutcome) throws -> PaymentTransaction {
        try database.execute(
            sql: """
                INSERT INTO payment_transaction (account, product_id, quantity, outcome, state)
                VALUES (?, ?, ?, ?, ?)
                """,
            arguments: [
                account, payment.productIdentifier, payment.quantity, outcome.name,
                PaymentTransactionState.purchasing.rawValue,
            ])
        return PaymentTransaction(
            identifier: database.lastInsertedRowID, payment: payment, state: .purchasing, error: nil, purchase: nil)
    }

    /// Adds a transaction that restores an earlier purchase.
    func addRestored(_ purchase: PaymentTransaction.Purchase, of payment: Payment, account: String) throws {
        let transaction = try add(payment, account: account, outcome: .purchased)
        try update(
            PaymentTransaction(
                identifier: transaction.identifier, payment: payment, state: .restored, error: nil, purchase: purchase))
    }

    /// All transactions, or one account's, in the order in which they were added.
    func transactions(account: String? = nil) throws -> [QueuedTransaction] {
        try Row.fetchAll(
            database,
            sql: "SELECT * FROM payment_transaction WHERE ?1 IS NULL OR account = ?1 ORDER BY identifier",
            arguments: [account]
        ).map(Self.queued)
    }

    func transaction(_ identifier: Int64) throws -> QueuedTransaction? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM payment_transaction WHERE identifier = ?", arguments: [identifier]
        ).map(Self.queued)
    }

    /// How the payment of a transaction shall end.
    func outcome(of identifier: Int64) throws -> PaymentOutcome {
        let name = try String.fetchOne(
            database, sql: "SELECT outcome FROM payment_transaction WHERE identifier = ?", arguments: [identifier])
        return name.flatMap(PaymentOutcome.init(name:)) ?? .failed(.unknown)
    }

    /// The first purchase an account made of a product; nil when it never did.
    func originalPurchase(of productIdentifier: String, account: String) throws -> PaymentTransaction.Purchase? {
        try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM payment_transaction
                WHERE account = ? AND product_id = ? AND transaction_id = original_transaction_id
                ORDER BY identifier LIMIT 1
                """,
            arguments: [account, productIdentifier]
        ).flatMap(Self.purchase)
    }

    /// Writes a transaction's state, and what came with it.
    func update(_ transaction: PaymentTransaction) throws {
        let purchase = transaction.purchase
        try database.execute(
            sql: """
                UPDATE payment_transaction
                SET state = ?, error = ?, transaction_id = ?, original_transaction_id = ?, purchase_date = ?,
                    original_purchase_date = ?, price = ?, currency = ?
                WHERE identifier = ?
                """,
            arguments: [
                transaction.state.rawValue, transaction.error?.rawValue, purchase?.transactionIdentifier,
                purchase?.originalTransactionIdentifier, purchase?.purchaseDate.millisecondsSince1970,
                purchase?.originalPurchaseDate.millisecondsSince1970, purchase?.price.milliunits,
                purchase?.price.currency, transaction.identifier,
            ])
    }

    private static func queued(_ row: Row) -> QueuedTransaction {
        let error: Int? = row["error"]
        return QueuedTransaction(
            account: row["account"],
            transaction: PaymentTransaction(
                identifier: row["identifier"],
                payment: Payment(productIdentifier: row["product_id"], quantity: row["quantity"]),
                // The table's constraint allows no other state.
                state: PaymentTransactionState(rawValue: row["state"]) ?? .failed,
                error: error.map { SKErrorCode(rawValue: $0) ?? .unknown },
                purchase: purchase(row)))
    }

    private static func purchase(_ row: Row) -> PaymentTransaction.Purchase? {
        guard let identifier: String = row["transaction_id"] else { return nil }
        return PaymentTransaction.Purchase(
            transactionIdentifier: identifier,
            originalTransactionIdentifier: row["original_transaction_id"],
            purchaseDate: Timestamp(millisecondsSince1970: row["purchase_date"]),
            originalPurchaseDate: Timestamp(millisecondsSince1970: row["original_purchase_date"]),
            price: Price(milliunits: row["price"], currency: row["currency"]))
    }
}
