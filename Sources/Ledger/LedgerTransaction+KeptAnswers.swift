import Commerce

/// The answers kept for requests that are sent again.
extension LedgerTransaction {
    /// The answer kept for a request that is sent again; nil when there is none, or none that was kept since a moment.
    public func keptAnswer(
        for key: IdempotencyKey,
        since moment: Timestamp
    ) throws -> KeptAnswer? {
        try AnswerRecords(database: database).answer(for: key, since: moment)
    }

    /// Keeps an answer, unless another process was quicker, and forgets those older than a moment.
    ///
    /// - Parameters:
    ///   - user: Whom it is about: it goes when they do.
    ///   - isRefusal: Whether it may be about a user who was never seen.
    /// - Returns: The answer that is kept.
    public func keep(
        _ answer: KeptAnswer,
        for key: IdempotencyKey,
        about user: User,
        isRefusal: Bool = false,
        at moment: Timestamp,
        forgettingBefore oldest: Timestamp
    ) throws -> KeptAnswer {
        let answers = AnswerRecords(database: database)
        try answers.forget(before: oldest)
        let known = try users.known(user)
        // Of a user who was erased meanwhile nothing is kept; a refusal may be of one who was never seen.
        guard known != nil || isRefusal && user.issuer != User.accountIssuer else { return answer }
        if try answers.keep(answer, for: key, about: known, at: moment) { return answer }
        guard let kept = try answers.answer(for: key, since: oldest) else { throw damaged }
        return kept
    }
}
