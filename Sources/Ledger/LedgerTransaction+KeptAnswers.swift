import Proofs

/// The answers kept under idempotency keys.
extension LedgerTransaction {
    /// The answer kept under an idempotency key; nil if there is none, or if it is older than a moment.
    package func keptAnswer(for key: IdempotencyKey, since moment: Timestamp) throws -> KeptAnswer? {
        try AnswerRecords(database: database).answer(for: key, since: moment)
    }

    /// Keeps an answer unless another process has kept one under the key, and deletes the answers older than a moment.
    ///
    /// - Parameters:
    ///   - user: The user that the answer is about. The user's erasure deletes it.
    ///   - isRefusal: True if the ledger keeps the answer even if it does not know the user.
    /// - Returns: The answer kept under the key.
    package func keep(
        _ answer: KeptAnswer,
        for key: IdempotencyKey,
        about user: User,
        isRefusal: Bool = false,
        at moment: Timestamp,
        deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer {
        let answers = AnswerRecords(database: database)
        try answers.delete(before: oldest)
        let known = try users.known(user)
        // The user may have been erased meanwhile. A refusal may be about a user whom the ledger does not know.
        guard known != nil || isRefusal && user.issuer != User.accountIssuer else { return answer }
        if try answers.keep(answer, for: key, about: known, at: moment) { return answer }
        guard let kept = try answers.answer(for: key, since: oldest) else { throw damaged }
        return kept
    }
}
