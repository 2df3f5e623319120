import Commerce
import GRDB

/// The ledger's statements about what users have and spend, inside a transaction that the caller holds.
struct BalanceRecords {
    let database: Database

    func insert(_ credit: Credit, quantity: Int, of claim: Claim, for user: Int64) throws {
        try database.cachedStatement(
            sql: "INSERT INTO credit (origin, transaction_id, user_id, balance, amount) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [
            claim.origin.rawValue, claim.transactionIdentifier, user, credit.balance, credit.amount * quantity,
        ])
    }

    func insert(_ spending: Spending, for user: Int64) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO spending (spending_id, user_id, balance, amount, reason, spent_by, spent_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            spending.identifier, user, spending.balance, spending.amount, spending.reason, spending.spentBy,
            spending.spentAt.millisecondsSince1970,
        ])
    }

    /// What a user has left of everything they ever had some of, by name: what was bought and stands, less what was spent. It
    /// is below zero where something was refunded after it was spent.
    func balances(of user: Int64) throws -> [(name: String, amount: Int)] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT balance, sum(amount) AS amount FROM (
                        SELECT balance, CASE
                            WHEN revocation_date IS NULL AND NOT EXISTS (
                                SELECT * FROM team_revocation AS taken
                                WHERE taken.origin = redeemed_transaction.origin AND reinstated_at IS NULL
                                    AND taken.original_transaction_id = redeemed_transaction.original_transaction_id)
                            THEN amount ELSE 0 END AS amount
                        FROM credit JOIN redeemed_transaction USING (origin, transaction_id)
                        WHERE credit.user_id = ?1
                        UNION ALL
                        SELECT balance, -amount FROM spending WHERE user_id = ?1)
                    GROUP BY balance ORDER BY balance
                    """),
            arguments: [user]
        ).map { ($0["balance"], $0["amount"]) }
    }
}
