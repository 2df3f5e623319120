import Commerce

/// What has to hold in a ledger beyond what its tables see to by themselves.
struct LedgerRules {
    /// How many violations of one rule are told of.
    static let maximumTold = 10

    let database: any LedgerDatabase

    /// - Returns: A sentence for each violation.
    func problems() throws -> [String] {
        var problems: [String] = []
        for rule in Self.rules {
            problems += try database.rows("\(rule.violations) LIMIT \(Self.maximumTold)").map { row in
                "\(rule.sentence): \(row.values.first.flatMap(String.init) ?? "")."
            }
        }
        problems += try AuditRecords(database: database, randomness: .system).breaks(limit: Self.maximumTold).map {
            "The audit log of user \($0.user) was changed, at its record \($0.number) or before."
        }
        return problems
    }

    /// Each query names what breaks its rule.
    private static let rules: [(sentence: String, violations: String)] = [
        (
            "A transaction belongs to another user than its original purchase",
            """
            SELECT transaction_id FROM redeemed_transaction JOIN original_transaction
                USING (origin, original_transaction_id)
            WHERE redeemed_transaction.user_id <> original_transaction.user_id
            """
        ),
        (
            "An item stands on a transaction of another user",
            """
            SELECT transaction_id FROM entitlement JOIN redeemed_transaction USING (origin, transaction_id)
            WHERE entitlement.user_id <> redeemed_transaction.user_id
            """
        ),
        (
            "A balance stands on a transaction of another user",
            """
            SELECT transaction_id FROM credit JOIN redeemed_transaction USING (origin, transaction_id)
            WHERE credit.user_id <> redeemed_transaction.user_id
            """
        ),
        (
            "A transaction is redeemed, and waits to be",
            "SELECT transaction_id FROM parked_transaction JOIN redeemed_transaction USING (origin, transaction_id)"
        ),
        (
            "A grace period was stated by nobody",
            "SELECT transaction_id FROM redeemed_transaction WHERE grace_ends_at IS NOT NULL AND grace_stated_at IS NULL"
        ),
        (
            "A transaction is of an origin that there is not",
            """
            SELECT transaction_id FROM redeemed_transaction
            WHERE origin NOT IN (\(Origin.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))
            """
        ),
        (
            "A transaction stands in no audit log of its owner",
            """
            SELECT transaction_id FROM (
                SELECT user_id, origin, transaction_id FROM redeemed_transaction
                EXCEPT
                SELECT user_id, origin, reference FROM audit WHERE event IN ('granted', 'revoked')
                EXCEPT
                SELECT redeemed.user_id, redeemed.origin, redeemed.transaction_id
                FROM audit CROSS JOIN redeemed_transaction AS redeemed
                WHERE event = 'transferredIn' AND redeemed.origin = audit.origin
                    AND redeemed.original_transaction_id = audit.reference AND redeemed.user_id = audit.user_id
            ) AS untold
            """
        ),
        (
            "An audit log tells of a transaction that nobody has redeemed",
            """
            SELECT reference FROM (
                SELECT origin, reference FROM audit WHERE event IN ('granted', 'revoked') AND origin IS NOT NULL
                EXCEPT
                SELECT origin, transaction_id FROM redeemed_transaction) AS told
            """
        ),
        (
            "An account token is no UUID in lowercase",
            """
            SELECT name FROM "user" WHERE app_account_token NOT LIKE '________-____-____-____-____________'
                OR app_account_token <> lower(app_account_token)
            """
        ),
    ]
}
