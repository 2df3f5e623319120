import Commerce

/// The version of a ledger in a PostgreSQL database.
enum PostgreSQLSchema {
    /// The advisory lock of those who prepare a ledger.
    private static let lock: Int64 = 0x7469_6c6c

    /// Makes the tables of a new ledger, and takes over a ledger of an earlier version.
    ///
    /// - Returns: The cause for which there is no ledger of this version; nil if there is one.
    static func prepare(_ connection: PostgreSQLConnection, takesOver: Bool) throws -> StorageFault.Cause? {
        connection.runLater("BEGIN ISOLATION LEVEL READ COMMITTED")
        _ = try connection.query(SQLQuery("SELECT pg_advisory_xact_lock($1) IS NULL", [lock]))
        let found = try connection.query(
            SQLQuery("SELECT to_regclass('ledger_schema') IS NOT NULL AS is_there")
        ).rows.first
        var version = 0
        if try found?["is_there"] == true {
            let newest = try connection.query(
                SQLQuery("SELECT max(version) AS version FROM ledger_schema")
            ).rows.first
            version = try newest?["version"] ?? 0
        }
        if takesOver, let script = script(from: version) {
            try connection.script(script)
            try connection.queryLater(
                SQLQuery("INSERT INTO ledger_schema (version) VALUES ($1)", [LedgerSchema.version]))
            version = LedgerSchema.version
        }
        try connection.commit()
        switch version {
        case LedgerSchema.version: return nil
        case 0: return .missing
        case ..<LedgerSchema.earliestVersion: return .outdatedVersion
        case ..<LedgerSchema.version: return .olderVersion
        default: return .newerVersion
        }
    }

    /// The statements that lead from a version to this one; nil if there are none.
    private static func script(from version: Int) -> String? {
        switch version {
        case 0: ownTables + LedgerSchema.definition(in: .postgreSQL)
        case LedgerSchema.earliestVersion: versionFifteen
        default: nil
        }
    }

    /// The tables that a ledger has in PostgreSQL alone: its version, and the tokens of its commits.
    private static let ownTables = """
        CREATE TABLE ledger_schema (version BIGINT PRIMARY KEY);

        CREATE TABLE ledger_commit (
            token BYTEA PRIMARY KEY,
            is_committed SMALLINT NOT NULL,
            committed_at TIMESTAMPTZ NOT NULL DEFAULT now()
        );


        """

    /// The changes of version 15, as `SQLiteSchema` has them.
    private static let versionFifteen = """
        ALTER TABLE spending ADD COLUMN idempotency_key TEXT COLLATE "C";
        ALTER TABLE spending ADD COLUMN request_digest BYTEA CHECK (length(request_digest) = 32);
        ALTER TABLE spending ADD COLUMN left_after BIGINT;

        UPDATE spending
        SET idempotency_key = kept.idempotency_key, request_digest = kept.request_digest,
            left_after = (kept.answer ->> 'left')::bigint
        FROM (SELECT DISTINCT ON (user_id, idempotency_key) *, convert_from(body, 'UTF8')::jsonb AS answer
            FROM kept_answer
            WHERE status = 201 AND content_type = 'application/json' AND user_id IS NOT NULL
                AND position('"spendingId":'::bytea IN body) > 0
            ORDER BY user_id, idempotency_key, kept_at) AS kept
        WHERE spending.user_id = kept.user_id AND spending.spending_id = kept.answer ->> 'spendingId';
        CREATE UNIQUE INDEX spending_by_idempotency_key ON spending (user_id, idempotency_key)
            WHERE idempotency_key IS NOT NULL;

        CREATE TABLE any_spelling (user_id BIGINT PRIMARY KEY REFERENCES "user" (user_id));
        INSERT INTO any_spelling SELECT user_id FROM "user"
            WHERE issuer NOT IN ('', 'till', 'erased') AND octet_length(name) <> char_length(name);
        """
}
