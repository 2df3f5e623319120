/// The changes of version 15, as `LedgerSchema` has them.
extension PostgreSQLSchema {
    static let requestTables = """
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
        \(LedgerSchema.requestIndex)

        CREATE TABLE any_spelling (user_id BIGINT PRIMARY KEY REFERENCES "user" (user_id));
        INSERT INTO any_spelling SELECT user_id FROM "user"
            WHERE issuer NOT IN ('', 'till', 'erased') AND octet_length(name) <> char_length(name);
        """
}
