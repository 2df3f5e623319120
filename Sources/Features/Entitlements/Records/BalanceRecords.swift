import Catalog
import Ledger
import Proofs

/// The SQL of balances and spendings, inside the caller's transaction.
struct BalanceRecords {
    let database: any LedgerDatabase

    func insert(_ addition: BalanceAddition, for user: Int64) throws {
        try database.insert(
            into: "balance_addition",
            ["addition_id", "user_id", "balance", "amount", "reason", "added_by", "added_at"],
            [
                [
                    addition.identifier, user, addition.balance, addition.amount, addition.reason, addition.addedBy,
                    addition.addedAt,
                ]
            ])
    }

    func insert(_ spending: Spending, left: Int, for user: Int64) throws {
        try database.insert(
            into: "spending",
            [
                "spending_id", "user_id", "balance", "amount", "reason", "spent_by", "spent_at", "idempotency_key",
                "request_digest", "left_after",
            ],
            [
                [
                    spending.identifier, user, spending.balance, spending.amount, spending.reason, spending.spentBy,
                    spending.spentAt, spending.request?.idempotencyKey, spending.request?.digest, left,
                ]
            ])
    }

    /// The spending under the idempotency key of a request; nil if there is none.
    func earlier(for request: Spending.Request?, of user: Int64) throws -> Spending.Earlier? {
        guard let key = request?.idempotencyKey else { return nil }
        return try database.row(
            SQLQuery("SELECT * FROM spending WHERE user_id = $1 AND idempotency_key = $2", [user, key])
        ).map { row in
            Spending.Earlier(
                spending: Spending(
                    identifier: try row["spending_id"], balance: try row["balance"], amount: try row["amount"],
                    reason: try row["reason"], spentBy: try row["spent_by"], spentAt: try row["spent_at"],
                    request: Spending.Request(idempotencyKey: key, digest: try row["request_digest"])),
                left: try row["left_after"])
        }
    }

    /// The names of the balances to which a user's purchases of other apps than the caller's have added.
    func balances(of user: Int64, filledOutside limit: AppLimit) throws -> Set<ByteKey> {
        Set(
            try database.rows(
                """
                SELECT DISTINCT balance FROM credit JOIN redeemed_transaction AS redeemed USING (user_id, sequence)
                WHERE user_id = $1 AND redeemed.app NOT IN (SELECT app FROM app WHERE bundle_id = $2)
                """,
                [user, limit.app]
            ).map { ByteKey(try $0["balance"]) })
    }

    /// The balances that a user has ever had, by name, with the purchases of some origins.
    func balances(of user: Int64, accepting origins: Set<Origin>) throws -> [Balance] {
        let rows = try database.rows(
            """
            SELECT balance, merged_from, CAST(sum(bought) AS BIGINT) AS bought, CAST(sum(spent) AS BIGINT) AS spent FROM (
                SELECT balance, merged_from, CASE WHEN is_revoked = 0 THEN amount ELSE 0 END AS bought, 0 AS spent
                FROM credit WHERE user_id = $1 AND origin IN \(origins.sqlList)
                UNION ALL
                SELECT balance, merged_from, amount, 0 FROM balance_addition WHERE user_id = $1
                UNION ALL
                SELECT balance, merged_from, 0, amount FROM spending WHERE user_id = $1) AS movement
            GROUP BY balance, merged_from ORDER BY balance
            """,
            [user])
        var parts: [(name: String, parts: [Balance.Part])] = []
        for row in rows {
            let (name, mergedFrom): (String, Int64?) = (try row["balance"], try row["merged_from"])
            if parts.last?.name.hasSameBytes(as: name) != true { parts.append((name, [])) }
            parts[parts.count - 1].parts.append(
                Balance.Part(bought: try row["bought"], spent: try row["spent"], isMerged: mergedFrom != nil))
        }
        return parts.map { Balance(name: $0.name, parts: $0.parts) }
    }
}
