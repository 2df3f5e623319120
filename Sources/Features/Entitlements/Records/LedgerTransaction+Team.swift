import Ledger
import Proofs

extension LedgerTransaction {
    /// Grants an item without a purchase, and stores the answer to the caller in the same commit. Grants nothing if another
    /// process has stored an answer under the same key.
    ///
    /// - Parameter oldest: Answers from before are deleted first.
    /// - Returns: The answer that another process has stored; nil if the item was granted.
    package func add(
        _ grant: Grant,
        for user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?,
        deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer? {
        let user = try number(of: user, at: grant.grantedAt)
        if let kept = try earlierAnswer(
            orKeeping: answer, for: key, about: user, at: grant.grantedAt, deletingBefore: oldest)
        {
            return kept
        }
        try add(grant, to: user)
        return nil
    }

    /// Adds a grant to those of a user.
    func add(_ grant: Grant, to user: Int64) throws {
        var heads = try users.heads(of: [user])
        let sequence = (heads[user]?.lastGrant ?? 0) + 1
        heads[user]?.lastGrant = sequence
        try GrantRecords(database: database).insert(grant, sequence: sequence, for: user)
        let entry = AuditEntry(
            grant, .itemGiven, by: grant.grantedBy, reason: grant.reason, at: grant.grantedAt)
        try record(entry, of: user, &heads)
    }

    /// Appends an entry to a user's audit log, and writes the user's head.
    func record(_ entry: AuditEntry, of user: Int64, _ heads: inout [Int64: UserHead]) throws {
        try audit.append([(entry, user)], to: &heads)
        try users.write(heads)
    }

    /// Stores an answer under a key.
    ///
    /// - Returns: The answer that another process has stored; nil if this one is stored, or there is no key.
    func earlierAnswer(
        orKeeping answer: KeptAnswer?,
        for key: IdempotencyKey?,
        about user: Int64,
        at moment: Timestamp,
        deletingBefore oldest: Timestamp
    ) throws -> KeptAnswer? {
        guard let key, let answer else { return nil }
        let answers = AnswerRecords(database: database)
        try answers.delete(before: oldest)
        if try answers.keep(answer, for: key, about: user, at: moment) { return nil }
        guard let kept = try answers.answer(for: key, since: oldest) else { throw damaged }
        return kept
    }

    /// A user's grants, newest first, paged like `transactions`.
    ///
    /// - Parameter items: The items whose grants are returned; nil for all items.
    package func grants(of user: User, giving items: [Item]? = nil, before sequence: Int64?, limit: Int) throws
        -> [Grant]
    {
        guard let user = try users.known(user) else { return [] }
        return try GrantRecords(database: database)
            .grants(of: user, giving: items, before: sequence ?? .max, limit: limit)
    }

    /// - Returns: Nil if the user has no grant of the identifier.
    package func grant(_ identifier: String, of user: User) throws -> Grant? {
        guard let user = try users.known(user) else { return nil }
        return try GrantRecords(database: database).grant(identifier, of: user)
    }

    /// Revokes a grant. A second revocation changes nothing.
    ///
    /// - Returns: The grant; nil if the user has none of that identifier.
    package func revoke(grant identifier: String, of user: User, _ revocation: Revocation) throws -> Grant? {
        let records = GrantRecords(database: database)
        guard let user = try users.known(user), let grant = try records.grant(identifier, of: user) else {
            return nil
        }
        guard let revoked = grant.revoked(by: revocation) else { return grant }
        try records.revoke(grant: identifier, of: user, revocation)
        try audit.append(
            AuditEntry(
                grant, .itemTakenBack, by: revocation.revokedBy, reason: revocation.reason, at: revocation.revokedAt
            ),
            to: user)
        return revoked
    }
}

extension AuditEntry {
    /// - Parameter caller: The identifier of the API key.
    fileprivate init(_ grant: Grant, _ event: Event, by caller: String, reason: String, at moment: Timestamp) {
        self.init(
            happenedAt: moment, event: event, actor: AuditActor(caller: caller), origin: nil,
            reference: grant.identifier,
            subject: grant.item.description, reason: reason)
    }
}
