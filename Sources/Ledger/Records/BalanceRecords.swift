import Commerce

/// The ledger's statements about what users have and spend, inside a transaction that the caller holds.
struct BalanceRecords {
    let database: any LedgerDatabase

    func insert(_ credit: Credit, quantity: Int, of claim: Claim, for user: Int64) throws {
        try database.write(
            "INSERT INTO credit (origin, transaction_id, user_id, balance, amount) VALUES ($1, $2, $3, $4, $5)",
            [claim.origin, claim.transactionIdentifier, user, credit.balance, credit.amount * quantity])
    }

    func insert(_ spending: Spending, for user: Int64) throws {
        try database.write(
            """
            INSERT INTO spending (spending_id, user_id, balance, amount, reason, spent_by, spent_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                spending.identifier, user, spending.balance, spending.amount, spending.reason, spending.spentBy,
                spending.spentAt,
            ])
    }

    /// What a user has left of everything they ever had some of, by name: what was bought and stands, less what was spent. It
    /// is below zero where something was refunded after it was spent.
    func balances(of user: Int64, counting origins: Set<Origin>) throws -> [Credit] {
        try database.rows(
            """
            SELECT balance, CAST(sum(amount) AS BIGINT) AS amount FROM (
                SELECT balance, CASE
                    WHEN revocation_date IS NULL AND NOT EXISTS (
                        SELECT * FROM team_revocation AS taken
                        WHERE taken.origin = redeemed_transaction.origin AND reinstated_at IS NULL
                            AND taken.original_transaction_id = redeemed_transaction.original_transaction_id)
                    THEN amount ELSE 0 END AS amount
                FROM credit JOIN redeemed_transaction USING (origin, transaction_id)
                WHERE credit.user_id = $1 AND credit.origin IN \(origins.sqlList)
                UNION ALL
                SELECT balance, -amount FROM spending WHERE user_id = $1) AS movement
            GROUP BY balance ORDER BY balance
            """,
            [user]
        ).map { Credit(balance: try $0["balance"], amount: try $0["amount"]) }
    }
}
