/// The SQL for the periods that redeemed transactions cover, for the check of the rows that the rules wrote.
enum CoverageQuery {
    static let text = """
        SELECT bought.*, CASE WHEN expires_at IS NOT NULL THEN starts_at END AS begins_at,
            CASE WHEN expires_at IS NULL THEN NULL WHEN replaced_at < period_ends_at THEN replaced_at
                ELSE period_ends_at END AS ends_at,
            CASE WHEN revocation_date IS NOT NULL OR EXISTS (
                SELECT * FROM team_revocation AS taken
                WHERE taken.user_id = bought.user_id AND reinstated_at IS NULL
                    AND taken.original_transaction_id = bought.original_transaction_id
                    AND taken.origin = bought.origin AND taken.app = bought.app) THEN 1 ELSE 0 END AS is_revoked
        FROM (SELECT redeemed.*,
                CASE WHEN grace_ends_at > expires_at THEN grace_ends_at ELSE expires_at END AS period_ends_at,
                min(CASE WHEN adds_seats = 0 AND coalesce(revocation_date, purchase_date) >= purchase_date
                    THEN starts_at END) OVER (
                    PARTITION BY user_id, original_transaction_id, origin, app ORDER BY purchase_date
                    GROUPS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS replaced_at
            FROM (SELECT sold.*,
                    CASE WHEN signed_date < purchase_date - 60000 THEN purchase_date ELSE purchase_date - 60000
                        END AS starts_at,
                    CASE WHEN additional_transaction_reason IS NOT NULL AND expires_at IS NOT NULL
                        AND purchase_date + 60000 < max(expires_at) OVER (
                            PARTITION BY user_id, original_transaction_id, origin, app, product_id
                            ORDER BY purchase_date GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                        THEN 1 ELSE 0 END AS adds_seats
                FROM redeemed_transaction AS sold) AS redeemed) AS bought
        """
}
