import Ledger
import Proofs

extension EntitlementService {
    /// Moves the purchase of a redeemed transaction to another user, with all its transactions and the renewals to come. The
    /// ownership policy does not hinder the team. An account token does, and so does an amount that the purchase added to a balance.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose transactions are searched; nil for all apps.
    ///   - other: The new owner, whom the ledger knows.
    ///   - caller: The identifier of the API key.
    /// - Returns: The transaction of the new owner.
    /// - Throws: `GrantError`; `AssignmentError.originNotAccepted`; `LedgerError.userUnknown` for an unknown new owner.
    package func move(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        to other: User,
        reason: String,
        by caller: String
    ) async throws -> RedeemedTransaction {
        let (origins, app) = (accepted.origins(for: other), limitingApp ?? app)
        let found = try await ledger.write { transaction -> [RedeemedTransaction] in
            try transaction.requireName(of: other)
            guard let former = try transaction.users.known(user) else { return [] }
            guard let owner = try transaction.users.known(other) else { throw LedgerError.userUnknown }
            func found(of owner: Int64) throws -> [RedeemedTransaction] {
                try ReadingRecords(database: transaction.database).transactions([identifier], of: owner).filter {
                    (origin == nil || $0.origin == origin) && app?.hasSameBytes(as: $0.app ?? "") ?? true
                }
            }
            let moved = try found(of: former)
            guard moved.count == 1 else { return moved }
            guard origins.contains(moved[0].origin) else { throw AssignmentError.originNotAccepted(moved[0].origin) }
            let apps = try transaction.apps
            let records = EntitlementRecords(database: transaction.database, apps: apps)
            let original = try records.original(ofTransaction: moved[0].sequence, of: former)
            let before = try records.facts(ofPurchases: [original])
            var decision = before.decision(at: try now(of: user, transaction))
            try decision.move(original, to: owner, reason: reason, by: AuditActor(caller: caller))
            try EntitlementChangeRecords(transaction: transaction, apps: apps, before: before, decision: decision)
                .write()
            return try found(of: owner)
        }
        guard let transaction = found.first else { throw GrantError.transactionNotFound }
        guard found.count == 1 else { throw GrantError.transactionAmbiguous }
        return transaction
    }
}
