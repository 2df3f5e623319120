import Commerce
import Ledger

/// The SQL of purchases that imports expect, inside the caller's transaction.
struct ExpectedTransactionRecords {
    let database: any LedgerDatabase
    let apps: AppNumbers

    /// Inserts expected purchases. A purchase that another process has inserted stays as it is.
    func insert(_ originals: Set<TransactionKey>, for user: Int64, at moment: Timestamp) throws {
        try database.insert(
            into: "expected_transaction", Table.originalKey + ["user_id", "expected_at"],
            originals.sorted().map { $0.sqlValues(apps) + [user, moment] }, isNew: false)
    }

    /// The expected purchases of a user, in the order of their original transactions.
    func purchases(of user: Int64) throws -> [ImportedCustomer.ExpectedPurchase] {
        try database.rows(
            """
            SELECT original_transaction_id, origin, app FROM expected_transaction WHERE user_id = $1
            ORDER BY original_transaction_id, origin, app
            """,
            [user]
        ).map {
            ImportedCustomer.ExpectedPurchase(
                app: try apps.bundleIdentifier($0), origin: try $0["origin"],
                originalTransactionIdentifier: try $0["original_transaction_id"])
        }
    }

    /// The customers with expected purchases, one for each purchase, in the order of the original transactions.
    ///
    /// A transaction's identifier is unique in an environment of the App Store, so a page never ends between two origins or
    /// apps of one identifier there.
    ///
    /// - Parameter app: The number of the app; nil for all apps.
    func customers(after last: String, of origins: Set<Origin>, in app: Int64?, limit: Int) throws -> [Customer] {
        try database.rows(
            """
            SELECT expected.user_id, issuer, name, original_transaction_id
            FROM expected_transaction AS expected JOIN "user" ON "user".user_id = expected.user_id
            WHERE original_transaction_id > $1 AND origin IN \(origins.sqlList)
                \(app.map { "AND app = \($0)" } ?? "")
            ORDER BY original_transaction_id LIMIT $2
            """,
            [last, limit]
        ).compactMap { row in
            try User(issuer: try row["issuer"], name: try row["name"]).map {
                Customer(
                    number: try row["user_id"], user: $0, transactionIdentifier: try row["original_transaction_id"])
            }
        }
    }
}
