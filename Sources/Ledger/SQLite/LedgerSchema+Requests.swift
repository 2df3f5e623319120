/// The changes of version 15: a spending has the idempotency key of its request, and users seen before keep access however a
/// token spells their name.
extension LedgerSchema {
    /// Kept answers to spendings are carried over. Of two API keys that used one idempotency key for one user, the spending that
    /// comes first keeps it.
    static let requestTables = """
        ALTER TABLE spending ADD COLUMN idempotency_key TEXT;
        ALTER TABLE spending ADD COLUMN request_digest BLOB CHECK (length(request_digest) = 32);
        ALTER TABLE spending ADD COLUMN left_after INTEGER;
        \(requestIndex)

        UPDATE OR IGNORE spending
        SET idempotency_key = kept.idempotency_key, request_digest = kept.request_digest, left_after = kept.left_after
        FROM (SELECT user_id, idempotency_key, request_digest, json_extract(text, '$.spendingId') AS spending_id,
                json_extract(text, '$.left') AS left_after
            FROM (SELECT *, CAST(body AS TEXT) AS text FROM kept_answer WHERE status = 201)
            WHERE CASE WHEN json_valid(text) THEN json_type(text, '$.left') = 'integer' ELSE 0 END) AS kept
        WHERE spending.user_id = kept.user_id AND spending.spending_id = kept.spending_id;

        CREATE TABLE any_spelling (user_id INTEGER PRIMARY KEY REFERENCES user (user_id)) STRICT;
        INSERT INTO any_spelling SELECT user_id FROM user
            WHERE issuer NOT IN ('', 'till', 'erased') AND length(CAST(name AS BLOB)) <> length(name);
        """

    static let requestIndex = """
        CREATE UNIQUE INDEX spending_by_idempotency_key ON spending (user_id, idempotency_key)
            WHERE idempotency_key IS NOT NULL;
        """
}
