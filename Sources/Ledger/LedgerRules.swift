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
    private static let rules: [(sentence: String, violations: String)] = familyRules + transactionRules + userRules

    /// The families of tables agree.
    private static let familyRules = [
        (
            "A transaction belongs to another user than its claim",
            """
            SELECT transaction_id FROM redeemed_transaction AS redeemed
                LEFT JOIN claim USING (transaction_id, origin, app)
            WHERE claim.user_id IS NULL OR claim.user_id <> redeemed.user_id
                OR claim.original_transaction_id <> redeemed.original_transaction_id
            """
        ),
        (
            "A claim has no transaction",
            """
            SELECT transaction_id FROM claim LEFT JOIN redeemed_transaction AS redeemed
                USING (user_id, original_transaction_id, transaction_id, origin, app)
            WHERE sequence IS NULL
            """
        ),
        (
            "A transaction belongs to another user than its original purchase",
            """
            SELECT transaction_id FROM redeemed_transaction AS redeemed
                LEFT JOIN original USING (original_transaction_id, origin, app)
            WHERE original.user_id IS NULL OR redeemed.user_id <> original.user_id
            """
        ),
        ("A name leads to another user", disagreement("user_name", #""user""#, on: "name, issuer")),
        ("An account token leads to another user", disagreement("account_token", #""user""#, on: "app_account_token")),
        ("An e-mail address leads to another account", disagreement("account_email", "account", on: "email_lowercase")),
        (
            "A user's last numbers are others than those of the records",
            """
            SELECT name FROM "user" LEFT JOIN audit ON audit.user_id = "user".user_id AND number = audit_number
            WHERE last_transaction < (SELECT coalesce(max(sequence), 0) FROM redeemed_transaction AS redeemed
                    WHERE redeemed.user_id = "user".user_id)
                OR last_grant < (SELECT coalesce(max(sequence), 0) FROM team_grant
                    WHERE team_grant.user_id = "user".user_id)
                OR audit_number <> (SELECT coalesce(max(number), 0) FROM audit AS each
                    WHERE each.user_id = "user".user_id)
                OR audit_number > 0 AND (digest IS NULL OR digest <> audit_digest)
            """
        ),
    ]

    /// The rows of a global key whose user has another key, and those of users without theirs.
    private static func disagreement(_ keys: String, _ users: String, on columns: String) -> String {
        [(keys, users), (users, keys)].map { left, right in
            """
            SELECT \(columns) FROM \(left) AS one LEFT JOIN \(right) AS other USING (\(columns))
            WHERE other.user_id IS NULL OR one.user_id <> other.user_id
            """
        }.joined(separator: " UNION ALL ")
    }

    private static let transactionRules = [
        (
            "A transaction is redeemed, and waits to be",
            "SELECT transaction_id FROM parked_transaction JOIN claim USING (transaction_id, origin, app)"
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
            "An item is owned for another time than its transaction says",
            """
            SELECT transaction_id FROM entitlement JOIN (\(CoverageQuery.text)) AS covered USING (user_id, sequence)
            WHERE entitlement.is_revoked <> covered.is_revoked OR entitlement.origin <> covered.origin
                OR coalesce(entitlement.begins_at, -1) <> coalesce(covered.begins_at, -1)
                OR coalesce(entitlement.ends_at, -1) <> coalesce(covered.ends_at, -1)
            """
        ),
        (
            "A balance counts otherwise than its transaction",
            """
            SELECT transaction_id FROM credit JOIN (\(CoverageQuery.text)) AS covered USING (user_id, sequence)
            WHERE credit.is_revoked <> covered.is_revoked OR credit.origin <> covered.origin
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
                WHERE event = 'transferredIn' AND redeemed.user_id = audit.user_id
                    AND redeemed.original_transaction_id = audit.reference AND redeemed.origin = audit.origin
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
    ]

    private static let userRules = [
        (
            "An account token is no UUID in lowercase",
            """
            SELECT name FROM "user" WHERE app_account_token NOT LIKE '________-____-____-____-____________'
                OR app_account_token <> lower(app_account_token)
            """
        )
    ]
}
