import Commerce
import Ledger

/// The ledger's statements about what users have and spend, inside a transaction that the caller holds.
struct BalanceRecords {
    let database: any LedgerDatabase

    /// Records a spending.
    ///
    /// - Returns: False, and records nothing, if the user has another under the same idempotency key.
    func insert(_ spending: Spending, left: Int, for user: Int64) throws -> Bool {
        try database.execute(
            """
            INSERT INTO spending (spending_id, user_id, balance, amount, reason, spent_by, spent_at, idempotency_key,
                request_digest, left_after)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING
            """,
            [
                spending.identifier, user, spending.balance, spending.amount, spending.reason, spending.spentBy,
                spending.spentAt, spending.request?.idempotencyKey, spending.request?.digest, left,
            ]) == 1
    }

    /// The answer that a request was given before; nil for a new one.
    func answer(to request: Spending.Request?, of user: Int64) throws -> SpendingAnswer? {
        guard let request else { return nil }
        return try database.row(
            SQLQuery(
                "SELECT * FROM spending WHERE user_id = $1 AND idempotency_key = $2", [user, request.idempotencyKey])
        ).map { row in
            guard try row["request_digest"] == request.digest else { return .keyReused }
            let spending = Spending(
                identifier: try row["spending_id"], balance: try row["balance"], amount: try row["amount"],
                reason: try row["reason"], spentBy: try row["spent_by"], spentAt: try row["spent_at"], request: request)
            return .repeated(spending, left: try row["left_after"])
        }
    }

    /// What a user has left of everything they ever had some of, by name: what was bought and stands, less what was spent. It
    /// is below zero where something was refunded after it was spent.
    func balances(of user: Int64, counting origins: Set<Origin>) throws -> [Credit] {
        try database.rows(
            """
            SELECT balance, CAST(sum(amount) AS BIGINT) AS amount FROM (
                SELECT balance, CASE WHEN is_revoked = 0 THEN amount ELSE 0 END AS amount
                FROM credit WHERE user_id = $1 AND origin IN \(origins.sqlList)
                UNION ALL
                SELECT balance, -amount FROM spending WHERE user_id = $1) AS movement
            GROUP BY balance ORDER BY balance
            """,
            [user]
        ).map { Credit(balance: try $0["balance"], amount: try $0["amount"]) }
    }
}
