import Proofs
import Vocabulary

/// An idempotency key, and the caller that sent it (`Idempotency-Key`).
package struct IdempotencyKey: Hashable, Sendable {
    /// The caller that sent the key. Two callers may use the same key.
    package let caller: String
    package let key: String

    package init(caller: String, key: String) {
        self.caller = caller
        self.key = key
    }

    /// The answer to keep under the key.
    ///
    /// - Parameter digest: The SHA-256 of the request.
    package func answer(_ bytes: [UInt8], to digest: [UInt8]) -> KeptAnswer {
        KeptAnswer(key: self, requestDigest: digest, bytes: bytes)
    }

    /// The caller name of a user's app. It contains a space, and no API key's name does.
    package static func caller(_ user: User) -> String { "\(user.issuer) \(user.name)" }
}

/// An answer that the ledger keeps for a retry of the same request.
package struct KeptAnswer: Hashable, Sendable {
    package let key: IdempotencyKey
    /// The SHA-256 of the request. It detects a different request under the same key.
    package let requestDigest: [UInt8]
    package let bytes: [UInt8]
}

/// The statements on kept answers, inside the caller's transaction.
package struct AnswerRecords {
    let database: any LedgerDatabase

    /// The answers kept for keys, unless they are older than a moment.
    package func answers(for keys: [(key: IdempotencyKey, since: Timestamp)]) throws -> [IdempotencyKey: KeptAnswer] {
        guard let oldest = keys.map(\.since).min() else { return [:] }
        let wanted = Set(keys.map(\.key))
        let rows = database.keyedRows(
            of: "kept_answer", where: ["idempotency_key", "caller"],
            SQLKeys(texts: keys.map { [$0.key.key, $0.key.caller] }))
        return try database.dictionary(
            """
            SELECT \(KeptAnswer.columns) FROM \(rows.source)
            WHERE \(rows.condition) AND kept_at >= \(rows.nextParameter)
            """,
            rows.arguments + [oldest]
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

/// The answers that the ledger keeps for callers, also of several processes.
extension LedgerTransaction {
    /// Keeps an answer unless another process has kept one under its key that is not older than a moment.
    ///
    /// - Parameter user: The user that the answer is about. The user's erasure deletes it.
    /// - Returns: The answer that was kept before; nil if this one is kept.
    package func earlierAnswer(
        orKeeping answer: KeptAnswer, about user: Int64?, at moment: Timestamp, deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer? {
        if try answers.keep(answer, about: user, at: moment, deletingBefore: oldest) { return nil }
        guard let kept = try answers.answer(for: answer.key, since: oldest) else { throw damaged }
        return kept
    }

    /// Keeps a refusal like `earlierAnswer`, also about a user whom the ledger does not know. An account that was erased
    /// meanwhile gets none.
    ///
    /// - Returns: The answer kept under the key; the refusal if none may be kept.
    package func keep(
        _ refusal: KeptAnswer, about user: User, at moment: Timestamp, deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer {
        let known = try users.known(user)
        guard known != nil || user.issuer != User.accountIssuer else { return refusal }
        return try earlierAnswer(orKeeping: refusal, about: known, at: moment, deletingBefore: oldest)
            ?? refusal
    }
}
