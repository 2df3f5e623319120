import Commerce

/// The ledger's statements about kept answers, inside a transaction that the caller holds.
struct AnswerRecords {
    let database: any LedgerDatabase

    func answer(for key: IdempotencyKey, since moment: Timestamp) throws -> KeptAnswer? {
        try database.row(
            "SELECT * FROM kept_answer WHERE caller = $1 AND idempotency_key = $2 AND kept_at >= $3",
            [key.caller, key.key, moment]
        ).map { row in
            KeptAnswer(
                requestDigest: try row["request_digest"], status: try row["status"],
                contentType: try row["content_type"], body: try row["body"])
        }
    }

    func forget(before oldest: Timestamp) throws {
        try database.execute("DELETE FROM kept_answer WHERE kept_at < $1", [oldest])
    }

    /// - Parameter user: Whom it is about: it goes when they do.
    /// - Returns: false, and keeps nothing, where an answer is kept for the key.
    func keep(_ answer: KeptAnswer, for key: IdempotencyKey, about user: Int64?, at moment: Timestamp) throws -> Bool {
        try database.execute(
            """
            INSERT INTO kept_answer (
                caller, idempotency_key, request_digest, status, content_type, body, kept_at, user_id
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """,
            [
                key.caller, key.key, answer.requestDigest, answer.status, answer.contentType, answer.body, moment, user,
            ]) == 1
    }
}
