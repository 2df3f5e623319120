import Ledger
import Proofs

/// The invariants of purchases and grants beyond the constraints of their tables.
enum EntitlementRules {
    /// The facts of a claim that its transaction repeats.
    private static let claimed = "transaction_id, origin, app, original_transaction_id, user_id"
    private static let claim =
        "transaction_id, origin, app, coalesce(original_transaction_id, transaction_id), user_id FROM claim WHERE user_id IS NOT NULL"
    /// The key and the purchase of a parked transaction.
    private static let parked = "transaction_id, origin, app, original_transaction_id"
    private static let key = "transaction_id, origin, app"
    /// The key and the owner of an original purchase.
    private static let owned = "original_transaction_id, origin, app, user_id"

    /// The events with which the log of a transaction can begin.
    private static let redemptions: [AuditEntry.Event] = [.granted, .revoked, .productChanged]

    static let all: [LedgerRule] = rules + AuditedAmounts.rules

    private static let rules: [LedgerRule] = [
        (
            "A transaction belongs to another user than its claim",
            """
            SELECT transaction_id FROM (
                SELECT \(claimed) FROM redeemed_transaction EXCEPT SELECT \(claim)) AS unclaimed
            """
        ),
        (
            "A claim has no transaction",
            """
            SELECT transaction_id FROM (
                SELECT \(claim) EXCEPT SELECT \(claimed) FROM redeemed_transaction) AS unredeemed
            """
        ),
        (
            "A transaction is there twice",
            "SELECT transaction_id FROM redeemed_transaction GROUP BY transaction_id, origin, app HAVING count(*) > 1"
        ),
        (
            "A transaction belongs to another user than its original purchase",
            """
            SELECT transaction_id FROM redeemed_transaction WHERE (\(owned)) IN (
                SELECT \(owned) FROM redeemed_transaction
                EXCEPT SELECT transaction_id, origin, app, owner_id FROM claim WHERE owner_id IS NOT NULL)
            """
        ),
        (
            "A merged user still owns a purchase",
            "SELECT transaction_id FROM claim WHERE owner_id IN (SELECT former_id FROM user_merge)"
        ),
        (
            "A user's last numbers are lower than those of the records",
            """
            SELECT name FROM "user"
            WHERE last_transaction < (SELECT coalesce(max(sequence), 0) FROM redeemed_transaction AS redeemed
                    WHERE redeemed.user_id = "user".user_id)
                OR last_grant < (SELECT coalesce(max(sequence), 0) FROM team_grant
                    WHERE team_grant.user_id = "user".user_id)
            """
        ),
        (
            "A redeemed transaction is still parked",
            "SELECT transaction_id FROM parked_transaction JOIN claim USING (transaction_id, origin, app) WHERE user_id IS NOT NULL"
        ),
        (
            "A purchase does not lead to a parked transaction",
            """
            SELECT transaction_id FROM (
                SELECT \(parked) FROM parked_transaction WHERE transaction_id <> original_transaction_id
                EXCEPT SELECT \(parked) FROM parked_original) AS hidden
            """
        ),
        (
            "A purchase leads to no parked transaction, and to none that states a move from it",
            """
            SELECT transaction_id FROM (
                SELECT \(key) FROM parked_original
                EXCEPT SELECT \(key) FROM parked_transaction
                EXCEPT SELECT \(key) FROM redeemed_transaction
                WHERE previous_original_transaction_id IS NOT NULL) AS unparked
            """
        ),
        (
            "An import expects a purchase for a merged user",
            """
            SELECT original_transaction_id FROM expected_transaction
            WHERE user_id IN (SELECT former_id FROM user_merge)
            """
        ),
        (
            "A grace period has no date of its statement",
            "SELECT transaction_id FROM redeemed_transaction WHERE grace_ends_at IS NOT NULL AND grace_stated_at IS NULL"
        ),
        (
            "A transaction has an unknown origin",
            """
            SELECT transaction_id FROM redeemed_transaction
            WHERE NOT \(Origin.hasForm)
            """
        ),
        (
            "A transaction has an unknown chain",
            "SELECT transaction_id FROM redeemed_transaction WHERE chain IS NOT NULL AND chain NOT IN (SELECT chain FROM chain)"
        ),
        (
            "A transaction has an unknown product",
            "SELECT transaction_id FROM redeemed_transaction WHERE product NOT IN (SELECT product FROM product)"
        ),
        (
            "The period of an item differs from its transaction",
            """
            SELECT transaction_id FROM (\(CoverageQuery.text)) AS covered
            WHERE is_revoked <> is_taken OR (begins_at IS NULL) <> (covers_from IS NULL) OR begins_at > covers_from
                -- A renewal that was signed in advance covers the time before it, but not the time before the signature.
                OR begins_at < covers_from AND begins_at < stated_at - 60000
                OR coalesce(ends_at, -1) <> coalesce(covers_until, -1)
            """
        ),
        (
            "The renewal of an item differs from its subscription",
            """
            SELECT bought.transaction_id FROM redeemed_transaction AS bought
                LEFT JOIN subscription ON subscription.user_id = bought.user_id
                    AND subscription.original_transaction_id = bought.original_transaction_id
                    AND subscription.origin = bought.origin AND subscription.app = bought.app
            -- A statement counts for a period that has not ended, from a day before it begins.
            WHERE coalesce(bought.renewal_stated_at, -1) <> CASE WHEN subscription.stated_at < bought.ends_at
                    AND subscription.stated_at >= bought.purchase_date - 86400000 THEN subscription.stated_at ELSE -1 END
                -- A commitment has a setting of its own.
                OR bought.renewal_stated_at IS NOT NULL AND subscription.commitment_info IS NULL
                    AND coalesce(bought.renews, -1) <> CASE WHEN subscription.auto_renew_status IS NULL THEN -1
                        WHEN subscription.auto_renew_status <> 0 THEN 1 ELSE 0 END
                OR bought.renewal_stated_at IS NOT NULL
                    AND coalesce(bought.is_declined, -1) <> coalesce(subscription.is_in_billing_retry_period, -1)
            """
        ),
        (
            "The settings of a renewal lack that of its last statement",
            """
            SELECT original_transaction_id FROM subscription
            WHERE auto_renew_status IS NOT NULL AND settings NOT LIKE '%' || stated_at || '%'
            """
        ),
        (
            "A credit differs from its transaction",
            """
            SELECT transaction_id FROM credit JOIN (\(CoverageQuery.text)) AS covered USING (user_id, sequence)
            WHERE credit.is_revoked <> covered.is_taken OR credit.origin <> covered.origin
            """
        ),
        (
            "A transaction is missing in its owner's audit log",
            """
            SELECT transaction_id FROM (
                SELECT user_id, origin, transaction_id FROM redeemed_transaction
                EXCEPT
                -- A period that an upgrade had ended before it was first stated has only the change.
                SELECT user_id, origin, reference FROM audit WHERE event IN \(redemptions.sqlList)
                EXCEPT
                SELECT redeemed.user_id, redeemed.origin, redeemed.transaction_id
                FROM audit CROSS JOIN redeemed_transaction AS redeemed
                WHERE event = 'transferredIn' AND redeemed.user_id = audit.user_id
                    AND redeemed.original_transaction_id = audit.reference AND redeemed.origin = audit.origin
            ) AS untold
            """
        ),
        (
            "An audit log has a transaction that nobody has redeemed",
            """
            SELECT reference FROM (
                SELECT origin, reference FROM audit
                WHERE event IN \([AuditEntry.Event.granted, .revoked].sqlList) AND origin IS NOT NULL
                EXCEPT
                SELECT origin, transaction_id FROM redeemed_transaction) AS told
            """
        ),
    ]
}

/// The SQL for the periods that redeemed transactions cover, for the check of the rows that the rules wrote.
enum CoverageQuery {
    static let text = """
        SELECT bought.*, CASE WHEN expires_at IS NOT NULL THEN starts_at END AS covers_from,
            CASE WHEN expires_at IS NULL THEN NULL
                WHEN coalesce(CASE WHEN is_upgraded <> 0 THEN twin_at END, replaced_at) < period_ends_at
                    THEN coalesce(CASE WHEN is_upgraded <> 0 THEN twin_at END, replaced_at)
                ELSE period_ends_at END AS covers_until,
            CASE WHEN revocation_date IS NOT NULL OR EXISTS (
                SELECT * FROM team_revocation AS taken
                WHERE taken.user_id = bought.user_id AND reinstated_at IS NULL
                    AND taken.original_transaction_id = bought.original_transaction_id
                    AND taken.origin = bought.origin AND taken.app = bought.app) THEN 1 ELSE 0 END AS is_taken
        FROM (SELECT redeemed.*,
                CASE WHEN grace_ends_at > expires_at THEN grace_ends_at ELSE expires_at END AS period_ends_at,
                min(CASE WHEN adds_seats = 0 AND coalesce(revocation_date, purchase_date) >= purchase_date
                    THEN starts_at END) OVER (
                    PARTITION BY user_id, original_transaction_id, origin, app ORDER BY purchase_date
                    GROUPS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS replaced_at,
                min(CASE WHEN coalesce(revocation_date, purchase_date) >= purchase_date
                        AND coalesce(is_upgraded, 0) = 0
                    THEN starts_at END) OVER (
                    PARTITION BY user_id, original_transaction_id, origin, app ORDER BY purchase_date
                    GROUPS BETWEEN CURRENT ROW AND CURRENT ROW) AS twin_at
            FROM (SELECT sold.*,
                    CASE WHEN signed_date < purchase_date - 60000 THEN purchase_date ELSE purchase_date - 60000
                        END AS starts_at,
                    CASE WHEN additional_transaction_reason IS NOT NULL AND expires_at IS NOT NULL
                        AND purchase_date + 60000 < max(expires_at) OVER (
                            PARTITION BY user_id, original_transaction_id, origin, app, product
                            ORDER BY purchase_date GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                        THEN 1 ELSE 0 END AS adds_seats
                FROM redeemed_transaction AS sold) AS redeemed) AS bought
        """
}
