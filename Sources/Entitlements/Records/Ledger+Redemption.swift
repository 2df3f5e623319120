import Commerce
import Ledger

/// The use cases that take in what proofs state.
extension Ledger {
    /// Records claims of one user, in order, and what they grant.
    ///
    /// - Parameters:
    ///   - policy: What happens to purchases that another user owns.
    ///   - origins: The origins that count for the user, among the items that are answered.
    /// - Throws: `LedgerError`; then nothing was recorded.
    public func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy,
        counting origins: Set<Origin>,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws(LedgerError) -> LedgerAnswer {
        let ask = { (database: any LedgerDatabase) in
            try database.prefetch(
                [UserRecords.known(user)]
                    + EntitlementRecords(database: database, users: users(database)).questions(about: claims))
        }
        return try write(for: user, at: moment, after: ask) { database, user in
            let facts = try EntitlementRecords(database: database, users: users(database)).facts(about: claims)
            var decision = EntitlementDecision(facts: facts, policy: policy, at: moment)
            let results = claims.map { decision.redeem($0, for: user, by: actor) }
            try write(decision.changes, to: database, at: moment)
            return LedgerAnswer(
                results: results,
                items: try ReadingRecords(database: database).items(of: user, counting: origins, at: moment))
        }
    }

    /// Records a notification of the App Store, and what it states of a transaction.
    ///
    /// - Parameters:
    ///   - claim: Nil for a notification about no transaction.
    ///   - accepted: The origins that count for each user. A statement of another origin grants its user nothing.
    /// - Throws: `StorageFault`; then nothing was recorded.
    public func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try write { database in
            guard try insert(notification, about: claim, into: database, at: moment) else { return .duplicate }
            guard let claim else { return .recorded }
            return try state(claim, accepting: accepted, in: database, at: moment)
        }
    }

    /// Records what the App Store states of a transaction, as a notification would have it.
    ///
    /// - Throws: `StorageFault`; then nothing was recorded.
    public func record(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try write { try state(claim, accepting: accepted, in: $0, at: moment) }
    }

    private func state(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins,
        in database: any LedgerDatabase,
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        let records = EntitlementRecords(database: database, users: users(database))
        try database.prefetch(records.questions(about: [claim]))
        var decision = EntitlementDecision(
            facts: try records.facts(about: claim, accepting: accepted), origins: accepted.origins, at: moment)
        let outcome = decision.state(claim)
        try write(decision.changes, to: database, at: moment)
        return outcome
    }

    private func write(
        _ changes: [EntitlementChange],
        to database: any LedgerDatabase,
        at moment: Timestamp
    ) throws {
        try EntitlementChangeRecords(database: database, audit: audit(database), moment: moment).write(changes)
    }

    /// - Returns: False for a notification that came before.
    private func insert(
        _ notification: NotificationRecord,
        about claim: Claim?,
        into database: any LedgerDatabase,
        at moment: Timestamp
    ) throws -> Bool {
        try database.execute(
            """
            INSERT INTO notification (
                origin, notification_uuid, type, subtype, transaction_id, signed_at, received_at, proof_digest
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING
            """,
            [
                notification.origin, notification.notificationUUID, notification.type, notification.subtype,
                claim?.transactionIdentifier, notification.signedAt, moment, notification.proofDigest,
            ]) == 1
    }
}
