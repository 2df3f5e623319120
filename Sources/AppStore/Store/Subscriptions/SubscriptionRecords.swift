import GRDB
import Proofs

/// The SQL statements on subscriptions. They run inside the caller's transaction of the store's database.
struct SubscriptionRecords {
    let database: Database

    func save(_ subscription: CustomerSubscription) throws {
        try database.execute(
            sql: """
                INSERT INTO subscription (original_transaction_id, account, group_id, due_date, record)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (original_transaction_id) DO UPDATE SET due_date = excluded.due_date, record = excluded.record
                """,
            arguments: [
                subscription.originalTransactionIdentifier, subscription.account, subscription.groupIdentifier,
                subscription.dueDate?.millisecondsSince1970, try StoreRecord.text(subscription),
            ])
    }

    /// The first subscription that is due; of two at one moment, the older.
    func firstDue(until moment: Timestamp) throws -> CustomerSubscription? {
        try fetch("due_date <= ? ORDER BY due_date, rowid LIMIT 1", [moment.millisecondsSince1970]).first
    }

    /// The earliest due date of all subscriptions.
    func nextDueDate() throws -> Timestamp? {
        try Int64.fetchOne(database, sql: "SELECT min(due_date) FROM subscription").map(
            Timestamp.init(millisecondsSince1970:))
    }

    func subscription(original identifier: String) throws -> CustomerSubscription? {
        try fetch("original_transaction_id = ?", [identifier]).first
    }

    func subscription(of account: String, group: String) throws -> CustomerSubscription? {
        try fetch("account = ? AND group_id = ?", [account, group]).first
    }

    func subscriptions(of account: String) throws -> [CustomerSubscription] {
        try fetch("account = ? ORDER BY rowid", [account])
    }

    func all() throws -> [CustomerSubscription] {
        try fetch("true ORDER BY rowid", [])
    }

    private func fetch(_ condition: String, _ arguments: StatementArguments) throws -> [CustomerSubscription] {
        try String.fetchAll(
            database, sql: "SELECT record FROM subscription WHERE \(condition)", arguments: arguments
        ).map { try StoreRecord.value($0) }
    }
}
