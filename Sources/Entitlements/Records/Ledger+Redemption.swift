import Commerce
import Ledger

/// The use cases that record claims and statements.
extension Ledger {
    /// Decides requests in their order, each in view of those before it, and records what follows in one commit.
    ///
    /// - Returns: An answer to each.
    /// - Throws: `StorageFault`; then nothing was recorded.
    public func decide(
        _ requests: [ClaimRequest],
        under policy: OwnershipPolicy,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> [ClaimAnswer] {
        try write { database in
            try ClaimGroup(database: database, ledger: self, policy: policy, accepted: accepted, moment: moment)
                .answer(requests)
        }
    }

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
        let request = ClaimRequest.redeem(claims, for: user, counting: origins, by: actor)
        let answers: [ClaimAnswer]
        do {
            answers = try decide([request], under: policy, accepting: AcceptedOrigins(origins), at: moment)
        } catch {
            throw .storage(error)
        }
        guard case .redeemed(let answer) = answers.first else { throw .userUnknown }
        return answer
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
        try record(.notify(notification, stating: claim), accepting: accepted, at: moment)
    }

    /// Records what the App Store states of a transaction, as a notification would have it.
    ///
    /// - Throws: `StorageFault`; then nothing was recorded.
    public func record(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try record(.state(claim), accepting: accepted, at: moment)
    }

    private func record(
        _ request: ClaimRequest,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        let answers = try decide([request], under: .keep, accepting: accepted, at: moment)
        guard case .recorded(let outcome) = answers.first else { return .recorded }
        return outcome
    }
}
