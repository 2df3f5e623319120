import Foundation
import GRDB
import Proofs

/// The SQL statements on the payment queue. They run inside the caller's transaction of the store's database.
struct PaymentRecords {
    let database: Database

    /// Adds a payment to an account's queue, in the state `purchasing`.
    func add(_ payment: Payment, account: String, outcome: PaymentOutcome) throws -> PaymentTransaction {
        try database.execute(
            sql: """
                INSERT INTO payment_transaction
                    (account, product_id, quantity, app_account_token, offer, outcome, state)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                account, payment.productIdentifier, payment.quantity, payment.appAccountToken?.uuidString,
                try payment.offer.map { try StoreRecord.text($0) }, outcome.name,
                PaymentTransactionState.purchasing.rawValue,
            ])
        return PaymentTransaction(
            identifier: database.lastInsertedRowID, payment: payment, state: .purchasing, error: nil, purchase: nil)
    }

    /// Adds a transaction that restores an earlier purchase, or that began outside the app.
    func add(_ purchase: Transaction, _ state: PaymentTransactionState) throws -> PaymentTransaction {
        let payment = Payment(
            productIdentifier: purchase.productIdentifier, quantity: purchase.quantity,
            appAccountToken: purchase.appAccountToken)
        let added = try add(payment, account: purchase.account, outcome: .purchased)
        let transaction = PaymentTransaction(
            identifier: added.identifier, payment: payment, state: state, error: nil, purchase: purchase.purchase)
        try update(transaction)
        return transaction
    }

    /// All transactions, or one account's, in the order in which they were added.
    func transactions(account: String? = nil) throws -> [QueuedTransaction] {
        guard let account else { return try fetch("true", []) }
        return try fetch("payment_transaction.account = ?", [account])
    }

    /// A page of the queue's transactions, newest first.
    ///
    /// - Parameters:
    ///   - number: The number of the last transaction of the previous page.
    ///   - isUnfinished: True for only those that the app has not finished.
    func page(account: String?, isUnfinished: Bool, before number: Int64, limit: Int) throws -> [QueuedTransaction] {
        let unfinished = isUnfinished ? " AND state <> 'finished'" : ""
        if let account {
            return try fetch(
                "payment_transaction.account = ? AND identifier < ?\(unfinished)", [account, number],
                order: "identifier DESC LIMIT \(limit)")
        }
        return try fetch(
            "identifier < ?\(unfinished)", [number], order: "identifier DESC LIMIT \(limit)",
            // A long queue has few unfinished transactions.
            index: isUnfinished ? "INDEXED BY payment_transaction_unfinished" : "")
    }

    /// The newest transaction of the queue for a transaction of the App Store; nil if none shows it.
    func latest(showing transactionIdentifier: String) throws -> QueuedTransaction? {
        try fetch("payment_transaction.transaction_id = ?", [transactionIdentifier], order: "identifier DESC LIMIT 1")
            .first
    }

    func transaction(_ identifier: Int64) throws -> QueuedTransaction? {
        try fetch("identifier = ?", [identifier]).first
    }

    /// The queue's transactions for one transaction of the App Store.
    func transactions(showing transactionIdentifier: String) throws -> [QueuedTransaction] {
        try fetch("payment_transaction.transaction_id = ?", [transactionIdentifier])
    }

    /// The requested outcome of a transaction's payment.
    func outcome(of identifier: Int64) throws -> PaymentOutcome {
        let name = try String.fetchOne(
            database, sql: "SELECT outcome FROM payment_transaction WHERE identifier = ?", arguments: [identifier])
        return name.flatMap(PaymentOutcome.init(name:)) ?? .failed(.unknown)
    }

    func setOutcome(_ outcome: PaymentOutcome, of identifier: Int64) throws {
        try database.execute(
            sql: "UPDATE payment_transaction SET outcome = ? WHERE identifier = ?",
            arguments: [outcome.name, identifier])
    }

    /// Writes a transaction's state, purchase and error.
    func update(_ transaction: PaymentTransaction) throws {
        try database.execute(
            sql: "UPDATE payment_transaction SET state = ?, error = ?, transaction_id = ? WHERE identifier = ?",
            arguments: [
                transaction.state.rawValue, transaction.error?.rawValue,
                transaction.purchase?.transactionIdentifier, transaction.identifier,
            ])
    }

    private func fetch(
        _ condition: String,
        _ arguments: StatementArguments,
        order: String = "identifier",
        index: String = ""
    ) throws -> [QueuedTransaction] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT payment_transaction.*, record FROM payment_transaction \(index)
                LEFT JOIN app_store_transaction USING (transaction_id)
                WHERE \(condition) ORDER BY \(order)
                """,
            arguments: arguments
        ).map { row in
            let error: Int? = row["error"]
            let token: String? = row["app_account_token"]
            let offer: String? = row["offer"]
            let record: String? = row["record"]
            let sold: Transaction? = try record.map { try StoreRecord.value($0) }
            return QueuedTransaction(
                account: row["account"],
                transaction: PaymentTransaction(
                    identifier: row["identifier"],
                    payment: Payment(
                        productIdentifier: row["product_id"], quantity: row["quantity"],
                        appAccountToken: token.flatMap { UUID(uuidString: $0) },
                        offer: try offer.map { try StoreRecord.value($0) }),
                    // The table's constraint allows no other state.
                    state: PaymentTransactionState(rawValue: row["state"]) ?? .failed,
                    error: error.map { SKErrorCode(rawValue: $0) ?? .unknown },
                    purchase: sold?.purchase))
        }
    }
}
