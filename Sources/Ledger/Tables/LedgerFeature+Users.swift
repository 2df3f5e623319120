extension LedgerFeature {
    /// The users, their audit logs and the callers.
    static let users = LedgerFeature(
        tables: Table.users + Table.audit + Table.callers,
        rules: [
            LedgerRule(
                "A user's last numbers differ from those of the records",
                """
                SELECT name FROM "user" LEFT JOIN audit ON audit.user_id = "user".user_id AND number = audit_number
                WHERE audit_number <> (SELECT coalesce(max(number), 0) FROM audit AS each
                        WHERE each.user_id = "user".user_id)
                    OR audit_number > 0 AND (digest IS NULL OR digest <> audit_digest)
                """),
            LedgerRule(
                "An alias leads to no user",
                """
                SELECT user_name.name FROM user_name LEFT JOIN "user" ON "user".user_id = user_name.user_id
                WHERE aliased_at IS NOT NULL AND "user".user_id IS NULL
                UNION ALL
                SELECT account_token.app_account_token FROM account_token
                    LEFT JOIN "user" ON "user".user_id = account_token.user_id
                WHERE aliased_at IS NOT NULL AND "user".user_id IS NULL
                """),
            LedgerRule(
                "An account token is not a UUID in lowercase",
                """
                SELECT name FROM "user" WHERE app_account_token NOT LIKE '________-____-____-____-____________'
                    OR app_account_token <> lower(app_account_token)
                """),
        ])
}
