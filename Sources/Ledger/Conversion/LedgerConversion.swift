/// The conversion of a ledger of version 14 or 15 to the tables of this version.
///
/// One transaction renames the old tables, creates and fills the new ones, and drops the old ones.
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

    /// The statements that create the old tables, for the rows of an export.
    var legacyTables: [String] { legacy.all.map { $0.definition(in: dialect) } }

    /// The statements that fill the new tables from the old ones, and drop the old ones.
    var filling: [String] {
        (version < 15 ? spendingRequests + anyNormalizations : []) + copies + drops
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

    /// The statements that drop the old tables, referencing tables first.
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

    /// Version 15: a spending has the idempotency key of its request, taken from the kept answer. If two API keys used the same
    /// idempotency key for one user, the first spending keeps it.
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

    /// Version 15: a token may spell the non-ASCII name of an existing user in any Unicode form.
    private var anyNormalizations: [String] {
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
                let columns = table.columns.filter { $0.since == nil }.map(\.name).joined(separator: ", ")
                return """
                    INSERT INTO \(table.quotedName) (\(columns)) SELECT \(columns) FROM \(LegacyTables.prefix)\(table.name)
                    """
            } + deliveries.map { "INSERT INTO \($0.table) \($0.query)" }
    }
}
