import Foundation
import GRDB
import Proofs

/// The SQL statements on the payment queue. They run inside the caller's transaction of the store's database.
package struct PaymentRecords {
    let database: Database

    /// Adds a payment to an account's queue, in the state `purchasing`.
    func add(_ payment: Payment, account: String, outcome: PaymentOutcome) throws -> QueuedTransaction {
        try database.insert(
            [
                "account": account, "product_id": payment.productIdentifier, "quantity": payment.quantity,
                "app_account_token": payment.appAccountToken?.uuidString,
                "billing_plan": payment.billingPlanType?.rawValue,
                "offer": try payment.offer.map { try StoreRecord.text($0) },
                "advanced_commerce": try payment.advancedCommerceCharge.map { try StoreRecord.text($0) },
                "outcome": outcome.name,
                "state": PaymentTransactionState.purchasing.rawValue,
            ], into: "payment_transaction")
        return QueuedTransaction(
            account: account,
            transaction: PaymentTransaction(
                identifier: database.lastInsertedRowID, payment: payment, state: .purchasing, error: nil, purchase: nil),
            outcome: outcome)
    }

    /// Adds a transaction that restores an earlier purchase, or that began outside the app.
    func add(_ purchase: Transaction, _ state: PaymentTransactionState) throws {
        let payment = Payment(
            productIdentifier: purchase.productIdentifier, quantity: purchase.quantity,
            appAccountToken: purchase.appAccountToken)
        let added = try add(payment, account: purchase.account, outcome: .purchased)
        try update(
            PaymentTransaction(
                identifier: added.transaction.identifier, payment: payment, state: state, error: nil,
                purchase: purchase.purchase))
    }

    /// All transactions, or one account's, in the order in which they were added.
    package func transactions(account: String? = nil) throws -> [QueuedTransaction] {
        try fetch(account.map { "payment_transaction.account = \($0)" } ?? "true")
    }

    /// A page of the queue's transactions, newest first.
    ///
    /// - Parameters:
    ///   - account: An account; nil for all.
    ///   - isUnfinished: True for only those that the app has not finished.
    ///   - number: The number of the last transaction of the previous page; nil for the first page.
    package func page(
        of account: String? = nil,
        isUnfinished: Bool = false,
        before number: Int64? = nil,
        limit: Int
    ) throws -> [QueuedTransaction] {
        var condition: SQL = "identifier < \(number ?? .max)"
        if isUnfinished { condition += " AND state <> 'finished'" }
        if let account { condition += " AND payment_transaction.account = \(account)" }
        return try fetch(
            condition, order: "identifier DESC LIMIT \(limit)",
            // A long queue has few unfinished transactions.
            index: isUnfinished && account == nil ? "INDEXED BY payment_transaction_unfinished" : "")
    }

    func transaction(_ identifier: Int64) throws -> QueuedTransaction? {
        try fetch("identifier = \(identifier)").first
    }

    /// The queue's transactions for one transaction of the App Store, the oldest first.
    func transactions(showing transactionIdentifier: String) throws -> [QueuedTransaction] {
        try fetch("payment_transaction.transaction_id = \(transactionIdentifier)")
    }

    func setOutcome(_ outcome: PaymentOutcome, of identifier: Int64) throws {
        try database.execute(
            literal: "UPDATE payment_transaction SET outcome = \(outcome.name) WHERE identifier = \(identifier)")
    }

    /// Records the use of a signed request's nonce, and returns false if it was used before.
    func isFirstUse(of nonce: UUID) throws -> Bool {
        try database.execute(
            literal: "INSERT INTO used_nonce (nonce) VALUES (\(nonce.uuidString)) ON CONFLICT DO NOTHING")
        return database.changesCount == 1
    }

    /// Writes a transaction's state, purchase and error.
    func update(_ transaction: PaymentTransaction) throws {
        try database.execute(
            literal: """
                UPDATE payment_transaction SET state = \(transaction.state.rawValue), error = \(transaction.error?.rawValue),
                    transaction_id = \(transaction.purchase?.transactionIdentifier)
                WHERE identifier = \(transaction.identifier)
                """)
    }

    private func fetch(_ condition: SQL, order: SQL = "identifier", index: SQL = "") throws -> [QueuedTransaction] {
        try SQLRequest<Row>(
            """
            SELECT payment_transaction.*, original_transaction_id FROM payment_transaction \(index)
            LEFT JOIN app_store_transaction USING (transaction_id)
            WHERE \(condition) ORDER BY \(order)
            """
        ).fetchAll(database).map { row in
            QueuedTransaction(
                account: row["account"],
                transaction: PaymentTransaction(
                    identifier: row["identifier"],
                    payment: Payment(
                        productIdentifier: row["product_id"], quantity: row["quantity"],
                        appAccountToken: (row["app_account_token"] as String?).flatMap { UUID(uuidString: $0) },
                        billingPlanType: (row["billing_plan"] as String?).flatMap { BillingPlanType(rawValue: $0) },
                        offer: try (row["offer"] as String?).map { try StoreRecord.value($0) },
                        advancedCommerceCharge: try (row["advanced_commerce"] as String?).map {
                            try StoreRecord.value($0)
                        }),
                    // The table's constraint allows no other state.
                    state: PaymentTransactionState(rawValue: row["state"]) ?? .failed,
                    error: (row["error"] as Int?).map { SKErrorCode(rawValue: $0) ?? .unknown },
                    purchase: (row["original_transaction_id"] as String?).map {
                        PaymentTransaction.Purchase(
                            transactionIdentifier: row["transaction_id"], originalTransactionIdentifier: $0)
                    }),
                outcome: PaymentOutcome(name: row["outcome"]) ?? .failed(.unknown))
        }
    }
}
