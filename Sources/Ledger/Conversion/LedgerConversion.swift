/// The conversion of a ledger of version 14 or 15 to the tables of this version.
///
/// The old tables get other names, the new ones are made and filled, and the old ones are dropped, all in one transaction.
struct LedgerConversion {
    let dialect: SQLDialect
    /// The version of the old tables.
    let version: Int
    let schema: LedgerSchema

    var legacy: LegacyTables { LegacyTables(schema) }

    /// The statements that convert the tables of a ledger.
    var statements: [String] {
        versionFifteen + LegacyTables.indexes.map { "DROP INDEX IF EXISTS \($0)" }
            + legacy.all.map { table in
                #"ALTER TABLE "\#(table.name.dropFirst(LegacyTables.prefix.count))" RENAME TO \#(table.name)"#
            } + triggersDropped + [schema.tables.definition(in: dialect)] + filling
    }

    /// The statements that make the old tables, for the rows of an export.
    var legacyTables: [String] { legacy.all.map { $0.definition(in: dialect) } }

    /// The statements that fill the new tables from the old ones, and drop these.
    var filling: [String] {
        (version < 15 ? spendingRequests + anySpellings : []) + copies + drops
    }

    // MARK: The old tables

    private var versionFifteen: [String] {
        guard version < 15 else { return [] }
        return [
            "ALTER TABLE spending ADD COLUMN idempotency_key TEXT",
            "ALTER TABLE spending ADD COLUMN request_digest \(dialect == .sqlite ? "BLOB" : "BYTEA")",
            "ALTER TABLE spending ADD COLUMN left_after \(dialect == .sqlite ? "INTEGER" : "BIGINT")",
            "CREATE TABLE any_spelling (user_id BIGINT)",
        ]
    }

    private var triggersDropped: [String] {
        ["audit_is_kept", "audit_is_not_rewritten"].map { name in
            "DROP TRIGGER IF EXISTS \(name)" + (dialect == .sqlite ? "" : " ON old_audit")
        }
    }

    /// Old tables in the reverse of the order in which they refer to each other.
    private var drops: [String] {
        let first = [
            "webhook_delivery", "credit", "entitlement", "team_revocation", "redeemed_transaction",
            "original_transaction", "session",
        ].map { LegacyTables.prefix + $0 }
        let last = LegacyTables.prefix + "user"
        let others = legacy.all.map(\.name).filter { !first.contains($0) && $0 != last }
        let tables = (first + others + [last]).map { "DROP TABLE \($0)" }
        return tables + (dialect == .sqlite ? [] : ["DROP FUNCTION IF EXISTS audit_is_kept()"])
    }

    /// Version 15: a spending has the idempotency key of its request, as the kept answer has it. Of two API keys that used one
    /// idempotency key for one user, the spending that comes first keeps it.
    private var spendingRequests: [String] {
        switch dialect {
        case .sqlite:
            [
                """
                CREATE UNIQUE INDEX old_spending_by_idempotency_key ON old_spending (user_id, idempotency_key)
                    WHERE idempotency_key IS NOT NULL
                """,
                """
                UPDATE OR IGNORE old_spending
                SET idempotency_key = kept.idempotency_key, request_digest = kept.request_digest,
                    left_after = kept.left_after
                FROM (SELECT user_id, idempotency_key, request_digest, json_extract(text, '$.spendingId') AS spending_id,
                        json_extract(text, '$.left') AS left_after
                    FROM (SELECT *, CAST(body AS TEXT) AS text FROM old_kept_answer WHERE status = 201)
                    WHERE CASE WHEN json_valid(text) THEN json_type(text, '$.left') = 'integer' ELSE 0 END) AS kept
                WHERE old_spending.user_id = kept.user_id AND old_spending.spending_id = kept.spending_id
                """,
            ]
        case .postgreSQL:
            [
                """
                UPDATE old_spending
                SET idempotency_key = kept.idempotency_key, request_digest = kept.request_digest,
                    left_after = (kept.answer ->> 'left')::bigint
                FROM (SELECT DISTINCT ON (user_id, idempotency_key) *, convert_from(body, 'UTF8')::jsonb AS answer
                    FROM old_kept_answer
                    WHERE status = 201 AND content_type = 'application/json' AND user_id IS NOT NULL
                        AND position('"spendingId":'::bytea IN body) > 0
                    ORDER BY user_id, idempotency_key, kept_at) AS kept
                WHERE old_spending.user_id = kept.user_id AND old_spending.spending_id = kept.answer ->> 'spendingId'
                """
            ]
        }
    }

    /// Version 15: users whose name is no ASCII keep access however a token spells it.
    private var anySpellings: [String] {
        let isASCII =
            dialect == .sqlite
            ? "length(CAST(name AS BLOB)) = length(name)" : "octet_length(name) = char_length(name)"
        return [
            """
            INSERT INTO old_any_spelling SELECT user_id FROM old_user
            WHERE issuer NOT IN ('', 'till', 'erased') AND NOT \(isASCII)
            """
        ]
    }

    // MARK: The new tables

    private var copies: [String] {
        let converted = conversions.map { "INSERT INTO \($0.table) \($0.query)" }
        let names = Set((conversions + deliveries).map(\.name))
        let legacy = Set(legacy.all.map(\.name))
        let same = schema.tables.filter { !names.contains($0.name) && legacy.contains(LegacyTables.prefix + $0.name) }
        return converted
            + same.map { table in
                let columns = table.columns.map(\.name).joined(separator: ", ")
                return """
                    INSERT INTO \(table.quotedName) (\(columns)) SELECT \(columns) FROM \(LegacyTables.prefix)\(table.name)
                    """
            } + deliveries.map { "INSERT INTO \($0.table) \($0.query)" }
    }

    /// The rows of a new table, by a query.
    private struct Conversion {
        let name: String
        /// The table and its columns.
        let table: String
        let query: String

        init(_ name: String, _ columns: String, _ query: String) {
            (self.name, self.query) = (name, query)
            table = "\"\(name)\" (\(columns))"
        }
    }

    /// All rows of an earlier ledger are of one app, which the first service to use the ledger names.
    private var conversions: [Conversion] {
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

    /// A line with the status and the content type, then the body.
    private var keptAnswer: String {
        switch dialect {
        case .sqlite: "CAST(status || ' ' || content_type || char(10) || CAST(body AS TEXT) AS BLOB)"
        case .postgreSQL: "convert_to(status || ' ' || content_type || chr(10), 'UTF8') || body"
        }
    }

    private var users: [Conversion] {
        let noDigest = dialect == .sqlite ? "zeroblob(32)" : "decode(repeat('00', 32), 'hex')"
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
                    coalesce(digest, \(noDigest))
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

    /// Of the attempts at a delivery, an earlier ledger has the last one.
    private var deliveries: [Conversion] {
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
