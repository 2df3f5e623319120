import Proofs

/// The statements on kept answers, inside the caller's transaction.
package struct AnswerRecords {
    let database: any LedgerDatabase

    /// The answers kept for keys, unless they are older than a moment.
    package func answers(for keys: [(key: IdempotencyKey, since: Timestamp)]) throws -> [IdempotencyKey: KeptAnswer] {
        guard let oldest = keys.map(\.since).min() else { return [:] }
        let wanted = Set(keys.map(\.key))
        return try database.dictionary(
            """
            SELECT \(KeptAnswer.columns) FROM kept_answer
            WHERE idempotency_key \(database.isIn("$1")) AND caller \(database.isIn("$2")) AND kept_at >= $3
            """,
            [
                database.list(Set(keys.map { ByteKey($0.key.key) }).sorted().map(\.text)),
                database.list(Set(keys.map { ByteKey($0.key.caller) }).sorted().map(\.text)), oldest,
            ]
        ) { row in
            let answer = try KeptAnswer(&row)
            return wanted.contains(answer.key) ? (answer.key, answer) : nil
        }
    }

    /// Keeps answers under keys without a valid answer.
    package func keep(_ answers: [(answer: KeptAnswer, user: Int64)], at moment: Timestamp) throws {
        // Old answers under these keys.
        try database.delete(
            from: "kept_answer", where: ["idempotency_key", "caller"],
            answers.map { [$0.answer.key.key, $0.answer.key.caller] })
        try database.insert(
            into: "kept_answer",
            ["idempotency_key", "caller", "request_digest", "answer", "kept_at", "user_id"],
            answers.map { answer, user in
                [answer.key.key, answer.key.caller, answer.requestDigest, answer.bytes, moment, user]
            })
    }

    /// Deletes answers that are older than a moment, the oldest first.
    ///
    /// - Returns: The number of deleted answers; `limit` if there may be more.
    package func delete(before moment: Timestamp, limit: Int) throws -> Int {
        let old: [[SQLValue]] = try database.rows(
            "SELECT idempotency_key, caller FROM kept_answer WHERE kept_at < $1 ORDER BY kept_at LIMIT $2",
            [moment, limit]
        ) { [try $0.nextValue(), try $0.nextValue()] }
        try database.delete(from: "kept_answer", where: ["idempotency_key", "caller"], old)
        return old.count
    }

    /// The answer kept under an idempotency key; nil if there is none, or if it is older than a moment.
    package func answer(for key: IdempotencyKey, since moment: Timestamp) throws -> KeptAnswer? {
        try database.row(
            """
            SELECT \(KeptAnswer.columns) FROM kept_answer WHERE idempotency_key = $1 AND caller = $2 AND kept_at >= $3
            """,
            [key.key, key.caller, moment]
        ) { try KeptAnswer(&$0) }
    }

    /// Keeps an answer unless there is one under its key that is not older than a moment.
    ///
    /// - Parameter user: The user that the answer is about. The user's erasure deletes it, also after a merge.
    /// - Returns: False if there is an answer under the key.
    func keep(
        _ answer: KeptAnswer, about user: Int64?, at moment: Timestamp, deletingBefore oldest: Timestamp
    ) throws -> Bool {
        try database.execute(
            "DELETE FROM kept_answer WHERE idempotency_key = $1 AND caller = $2 AND kept_at < $3",
            [answer.key.key, answer.key.caller, oldest])
        return try database.execute(
            """
            INSERT INTO kept_answer (idempotency_key, caller, request_digest, answer, kept_at, user_id)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
            """,
            [answer.key.key, answer.key.caller, answer.requestDigest, answer.bytes, moment, user]) == 1
    }
}

extension KeptAnswer {
    fileprivate static let columns = "caller, idempotency_key, request_digest, answer"

    fileprivate init(_ row: inout ResultRow) throws(ColumnMismatch) {
        self.init(
            key: IdempotencyKey(caller: try row.next(), key: try row.next()), requestDigest: try row.next(),
            bytes: try row.next())
    }
}

extension LedgerDatabase {
    package var answers: AnswerRecords { AnswerRecords(database: self) }
    package var apps: AppRecords { AppRecords(database: self) }
    package var events: EventRecords { EventRecords(database: self) }
}
