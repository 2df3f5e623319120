import Entitlements
import Features
import Ledger
import Proofs
import Vocabulary

extension LedgerTransaction {
    /// Redeems claims by the user, with every origin accepted.
    package func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy = .keep,
        at moment: Timestamp
    ) throws -> LedgerAnswer {
        try redeem(claims, for: user, under: policy, accepting: .ofEveryStore, by: .user, at: moment)
    }

    /// Redeems claims.
    ///
    /// - Parameter origins: The origins that are valid for the user, for the items in the answer.
    package func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy,
        accepting origins: Set<Origin>,
        by actor: AuditActor,
        at moment: Timestamp
    ) throws -> LedgerAnswer {
        let request = ClaimRequest.redeem(PresentedClaims(claims, for: user, accepting: origins, by: actor))
        let answers = try decide([request], under: policy, accepting: AcceptedOrigins(origins), at: moment)
        guard case .redeemed(let answer) = answers.first else { throw LedgerError.userUnknown }
        return answer
    }

    /// The items of a user, with every origin accepted.
    package func items(of user: User, at moment: Timestamp) throws -> [Item] {
        try items(of: user, accepting: .ofEveryStore, at: moment)
    }

    /// True if a user has redeemed a transaction, also if it is revoked.
    package func hasPurchases(_ user: User) throws -> Bool {
        try users.known(user).map(hasPurchases) ?? false
    }

    /// The whole audit log of a user, in its order.
    package func audit(of user: User) throws -> [AuditRecord] {
        try audit(of: user, after: 0, limit: .max)
    }

    /// Records a notification, and its statement about a transaction, if any.
    package func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        accepting accepted: AcceptedOrigins = AcceptedOrigins(.ofEveryStore),
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        try outcome(of: .notify(notification, stating: claim), accepting: accepted, at: moment)
    }

    /// Records a statement about a transaction.
    package func record(
        _ claim: Claim,
        accepting accepted: AcceptedOrigins = AcceptedOrigins(.ofEveryStore),
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        try outcome(of: .state(claim), accepting: accepted, at: moment)
    }

    private func outcome(
        of request: ClaimRequest,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws -> NotificationOutcome {
        let answers = try decide([request], under: .keep, accepting: accepted, at: moment)
        guard case .recorded(let outcome) = answers.first else { return .recorded }
        return outcome
    }
}

extension Ledger {
    /// Runs use cases in one group commit.
    ///
    /// - Returns: The error of each; nil for a use case that is committed.
    package func together(_ useCases: [(LedgerTransaction) throws -> Void]) -> [(any Error)?] {
        storage.commit(useCases.map { useCase in LedgerPart { try useCase(transaction($0)) } })
    }

    /// Runs use cases in one group commit.
    ///
    /// - Throws: The first error.
    package func allTogether(_ useCases: [(LedgerTransaction) throws -> Void]) throws {
        if let error = together(useCases).compactMap(\.self).first { throw error }
    }
}

extension Ledger {
    /// Reads on the caller's thread.
    package func readNow<Value>(_ body: (LedgerTransaction) throws -> Value) throws -> Value {
        try storage.read { try body(transaction($0)) }
    }

    /// Writes on the caller's thread, in a commit of its own.
    package func writeNow<Value>(_ body: (LedgerTransaction) throws -> Value) throws -> Value {
        try storage.write { try body(transaction($0)) }
    }
}

extension Set<Origin> {
    /// The origins that Till knows, and those of the store that lives in the tests alone.
    package static let ofEveryStore = Set(
        Origin.allCases + ["acme/Production", "acme/Test"].compactMap(Origin.init(rawValue:)))
}
