/// The queries that fill the new tables with changed columns.
extension LedgerConversion {
    /// The query for the rows of a new table.
    struct Conversion {
        let name: String
        /// The table and its columns, for `INSERT INTO`.
        let table: String
        let query: String

        init(_ name: String, _ columns: String, _ query: String) {
            (self.name, self.query) = (name, query)
            table = "\"\(name)\" (\(columns))"
        }
    }

    /// The conversions of users and purchases. All rows of an earlier ledger belong to one app. The first service that uses the
    /// ledger names it.
    var conversions: [Conversion] {
        users + purchases + [
            Conversion(
                "account_email", "email_lowercase, user_id", "SELECT email_lowercase, user_id FROM old_account"),
            Conversion(
                "refusal", "user_id, transaction_id, origin, app, reason",
                "SELECT user_id, transaction_id, origin, 1, reason FROM old_refusal"),
            Conversion(
                "kept_answer", "idempotency_key, caller, request_digest, answer, kept_at, user_id",
                """
                SELECT idempotency_key, caller, request_digest, \(keptAnswer), kept_at, user_id FROM old_kept_answer
                """),
        ]
    }

    /// The SQL for a kept answer: a line with the status and the content type, then the body.
    private var keptAnswer: String {
        switch dialect {
        case .sqlite: "CAST(status || ' ' || content_type || char(10) || CAST(body AS TEXT) AS BLOB)"
        case .postgreSQL: "convert_to(status || ' ' || content_type || chr(10), 'UTF8') || body"
        }
    }

    private var users: [Conversion] {
        let zeroDigest = dialect == .sqlite ? "zeroblob(32)" : "decode(repeat('00', 32), 'hex')"
        return [
            Conversion("app", "app, bundle_id", "VALUES (1, '')"),
            Conversion(
                "user",
                """
                user_id, issuer, name, app_account_token, is_app_account_token_settled, accepts_any_spelling,
                first_seen_at, version, last_transaction, last_grant, audit_number, audit_digest
                """,
                """
                SELECT known.user_id, issuer, name, app_account_token, is_app_account_token_settled,
                    CASE WHEN spelled.user_id IS NULL THEN 0 ELSE 1 END, first_seen_at, 0,
                    coalesce(redeemed.last, 0), coalesce(given.last, 0), coalesce(told.last, 0),
                    coalesce(digest, \(zeroDigest))
                FROM old_user AS known LEFT JOIN old_any_spelling AS spelled USING (user_id)
                LEFT JOIN (SELECT user_id, max(sequence) AS last FROM old_redeemed_transaction GROUP BY user_id)
                    AS redeemed USING (user_id)
                LEFT JOIN (SELECT user_id, max(sequence) AS last FROM old_team_grant GROUP BY user_id)
                    AS given USING (user_id)
                LEFT JOIN (SELECT user_id, max(number) AS last FROM old_audit GROUP BY user_id) AS told USING (user_id)
                LEFT JOIN old_audit AS entry ON entry.user_id = known.user_id AND entry.number = told.last
                """),
            Conversion("user_name", "name, issuer, user_id", "SELECT name, issuer, user_id FROM old_user"),
            Conversion(
                "account_token", "app_account_token, user_id", "SELECT app_account_token, user_id FROM old_user"),
        ]
    }

    private var purchases: [Conversion] {
        let statement = "stated_at, revocation_date, revocation_reason, expires_at"
        let covered = "JOIN (\(CoverageQuery.text)) AS covered USING (transaction_id, origin)"
        return [
            Conversion(
                "claim", "transaction_id, origin, app, original_transaction_id, user_id",
                "SELECT transaction_id, origin, 1, original_transaction_id, user_id FROM old_redeemed_transaction"),
            Conversion(
                "original",
                """
                original_transaction_id, origin, app, user_id, transferred_at, named_at, named_by, named_stated_at
                """,
                """
                SELECT original_transaction_id, origin, 1, user_id, transferred_at, named_at, named_by, named_stated_at
                FROM old_original_transaction
                """),
            Conversion(
                "redeemed_transaction",
                """
                user_id, sequence, original_transaction_id, transaction_id, origin, app, product_id, quantity,
                purchase_date, redeemed_at, \(statement), grace_ends_at, grace_stated_at, proof_digest
                """,
                """
                SELECT user_id, sequence, original_transaction_id, transaction_id, origin, 1, product_id, quantity,
                    purchase_date, redeemed_at, \(statement), grace_ends_at, grace_stated_at, proof_digest
                FROM old_redeemed_transaction
                """),
            Conversion(
                "team_revocation",
                """
                user_id, original_transaction_id, origin, app, sequence, reason, revoked_by, revoked_at, reinstated_by,
                reinstated_at
                """,
                """
                SELECT user_id, original_transaction_id, origin, 1, sequence, reason, revoked_by, revoked_at,
                    reinstated_by, reinstated_at
                FROM old_team_revocation JOIN old_original_transaction USING (original_transaction_id, origin)
                """),
            Conversion(
                "entitlement",
                "user_id, sequence, collection, number, origin, granted_at, begins_at, ends_at, is_revoked",
                """
                SELECT covered.user_id, covered.sequence, collection, number, origin, granted_at, covered.begins_at,
                    covered.ends_at, covered.is_revoked
                FROM old_entitlement \(covered)
                """),
            Conversion(
                "credit", "user_id, sequence, balance, amount, origin, is_revoked",
                """
                SELECT covered.user_id, covered.sequence, balance, amount, origin, covered.is_revoked
                FROM old_credit \(covered)
                """),
            Conversion(
                "parked_transaction", "transaction_id, origin, app, original_transaction_id, \(statement), claim",
                """
                SELECT transaction_id, origin, 1, original_transaction_id, \(statement), claim
                FROM old_parked_transaction
                """),
            Conversion(
                "notification",
                """
                notification_uuid, origin, app, type, subtype, transaction_id, signed_at, received_at, proof_digest,
                settled_at
                """,
                """
                SELECT notification_uuid, origin, 1, type, subtype, transaction_id, signed_at, received_at,
                    proof_digest, settled_at
                FROM old_notification
                """),
        ]
    }

    /// The conversions of webhook deliveries. An earlier ledger has only the last attempt at a delivery.
    var deliveries: [Conversion] {
        let number = "CASE WHEN last_attempt_at IS NULL THEN 0 WHEN attempts > 0 THEN attempts ELSE 1 END"
        return [
            Conversion(
                "webhook_delivery",
                """
                user_id, audit_number, endpoint_id, message_id, happened_at, attempts, next_attempt_at, is_delivered,
                last_attempt
                """,
                """
                SELECT user_id, audit_number, endpoint_id, message_id, happened_at, attempts, next_attempt_at,
                    is_delivered, \(number)
                FROM old_webhook_delivery
                """),
            Conversion(
                "webhook_attempt", "user_id, audit_number, endpoint_id, number, attempted_at, status, error",
                """
                SELECT user_id, audit_number, endpoint_id, \(number), last_attempt_at, last_status, last_error
                FROM old_webhook_delivery WHERE last_attempt_at IS NOT NULL
                """),
        ]
    }
}
