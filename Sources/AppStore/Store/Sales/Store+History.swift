import GRDB
import Proofs

extension Store {
    /// All transactions of an account, in the order of their sale.
    package func history(of account: String) throws(StoreError) -> [Transaction] {
        try read { try $0.transactions.transactions(of: account) }
    }

    package func sale(_ transactionIdentifier: String) throws(StoreError) -> Transaction {
        try read { try $0.sale(transactionIdentifier) }
    }

    /// Deletes all sales and notifications. Keys, settings and the time stay (StoreKitTest, `clearTransactions`).
    package func clearTransactions() throws(StoreError) {
        try write { try $0.clearSales() }
    }

    /// Deletes one transaction and its repetitions, or the whole subscription (StoreKitTest, `deleteTransaction`).
    package func delete(_ transactionIdentifier: String) throws(StoreError) {
        try write { books in
            try books.transactions.storeLastChange()
            let original = try books.sale(transactionIdentifier).originalTransactionIdentifier
            let sold = "(SELECT transaction_id FROM app_store_transaction WHERE original_transaction_id = ?)"
            for sql in [
                "DELETE FROM payment_transaction WHERE transaction_id IN \(sold)",
                "DELETE FROM consumption WHERE transaction_id IN \(sold)",
                "DELETE FROM subscription WHERE original_transaction_id = ?",
                "DELETE FROM app_store_transaction WHERE original_transaction_id = ?",
            ] {
                try books.database.execute(sql: sql, arguments: [original])
            }
        }
    }
}

extension Books {
    func clearSales() throws {
        try transactions.storeLastChange()
        for table in [
            "payment_transaction", "consumption", "subscription", "app_store_transaction", "send_attempt",
            "notification", "mass_extension",
        ] {
            try database.execute(sql: "DELETE FROM \(table)")
        }
    }

    func count(_ table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}
