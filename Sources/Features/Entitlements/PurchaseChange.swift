import Ledger
import Proofs

/// A change that the team makes to a purchase.
package struct PurchaseChange: Hashable, Sendable {
    fileprivate let revokes: Bool
    /// The identifier of the API key.
    fileprivate let caller: String
    fileprivate let moment: Timestamp
    /// The reason, in the team's own words; nil if none is given.
    fileprivate let reason: String?

    package static func revoke(_ revocation: Revocation) -> PurchaseChange {
        PurchaseChange(
            revokes: true, caller: revocation.revokedBy, moment: revocation.revokedAt, reason: revocation.reason)
    }

    package static func reinstate(by caller: String, at moment: Timestamp, reason: String? = nil) -> PurchaseChange {
        PurchaseChange(revokes: false, caller: caller, moment: moment, reason: reason)
    }
}

extension EntitlementService {
    /// Revokes the purchase of a redeemed transaction, regardless of the App Store's statements and of restored transactions. A
    /// second revocation changes nothing.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose transactions are searched; nil for all apps.
    package func revoke(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        reason: String,
        by caller: String
    ) async throws -> RedeemedTransaction {
        try await change(
            .revoke(Revocation(revokedAt: clock.now(), reason: reason, revokedBy: caller)), ofTransaction: identifier,
            origin: origin, in: app, of: user)
    }

    /// Reinstates a purchase that the team has revoked. A revocation by the App Store stays in effect.
    ///
    /// - Parameter reason: The reason for the audit log; nil if none is given.
    package func reinstate(
        transaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        reason: String? = nil,
        by caller: String
    ) async throws -> RedeemedTransaction {
        try await change(
            .reinstate(by: caller, at: clock.now(), reason: reason), ofTransaction: identifier, origin: origin, in: app,
            of: user)
    }

    private func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        in app: String?,
        of user: User
    ) async throws -> RedeemedTransaction {
        let found = try await ledger.write {
            try $0.change(
                change, ofTransaction: identifier, origin: origin, in: limitingApp ?? app, of: user, accepting: accepted
            )
        }
        guard let transaction = found.first else { throw GrantError.transactionNotFound }
        guard found.count == 1 else { throw GrantError.transactionAmbiguous }
        return transaction
    }
}

extension LedgerTransaction {
    /// Revokes or reinstates the purchase of a redeemed transaction, regardless of the App Store's statements and of restored
    /// transactions. A second revocation changes nothing.
    ///
    /// - Parameters:
    ///   - origin: Nil for any origin.
    ///   - app: The bundle identifier of the only app whose transactions are searched; nil for all apps.
    /// - Returns: The transaction after the change; empty if the user has redeemed none of that identifier. Several, unchanged,
    ///   if origins share the identifier.
    package func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        accepting accepted: AcceptedOrigins = AcceptedOrigins(Set(Origin.allCases))
    ) throws -> [RedeemedTransaction] {
        guard let user = try users.known(user) else { return [] }
        func found() throws -> [RedeemedTransaction] {
            try ReadingRecords(database: database).transactions([identifier], of: user).filter {
                (origin == nil || $0.origin == origin) && app?.hasSameBytes(as: $0.app ?? "") ?? true
            }
        }
        let transactions = try found()
        guard transactions.count == 1 else { return transactions }
        if let original = try apply(change, to: transactions[0], of: user) {
            let transaction = transactions[0]
            try audit.append(
                AuditEntry(
                    happenedAt: change.moment, event: change.revokes ? .revoked : .granted,
                    actor: AuditActor(caller: change.caller), origin: transaction.origin, app: transaction.app,
                    reference: transaction.transactionIdentifier, subject: transaction.productIdentifier,
                    reason: change.reason),
                to: user)
            _ = try recordStates(of: [original], try apps, at: change.moment, accepting: accepted) { _ in nil }
        }
        return try found()
    }

    /// - Returns: The purchase; nil if the change was already in effect. Nothing is then changed.
    private func apply(
        _ change: PurchaseChange,
        to transaction: RedeemedTransaction,
        of user: Int64
    ) throws -> TransactionKey? {
        let apps = try apps
        let records = EntitlementRecords(database: database, apps: apps)
        let original = try records.original(ofTransaction: transaction.sequence, of: user)
        let before = try records.facts(ofPurchases: [original])
        guard before.revokedByTeam.contains(original) != change.revokes else { return nil }
        try write(change, to: [user] + original.sqlValues(apps))
        var after = before
        if change.revokes { after.revokedByTeam.insert(original) } else { after.revokedByTeam.remove(original) }
        let (old, places) = (before.coverage(of: original), PurchaseMoves.Places(before: before))
        try database.update(
            coverage:
                after.coverage(of: original).sorted { $0.key < $1.key }.compactMap { key, coverage in
                    guard old[key] != coverage, let place = places[key] else { return nil }
                    return (place, coverage)
                })
        return original
    }

    /// - Parameter purchase: The user's number and the key of the original transaction.
    private func write(_ change: PurchaseChange, to purchase: [any SQLConvertible]) throws {
        guard change.revokes else {
            // The author and the reason of the revocation are kept.
            return try database.write(
                """
                UPDATE team_revocation SET reinstated_by = $1, reinstated_at = $2
                WHERE user_id = $3 AND original_transaction_id = $4 AND origin = $5 AND app = $6
                    AND reinstated_at IS NULL
                """,
                [change.caller, change.moment] + purchase)
        }
        let last: Int64? = try database.value(
            """
            SELECT coalesce(max(sequence), 0) FROM team_revocation
            WHERE user_id = $1 AND original_transaction_id = $2 AND origin = $3 AND app = $4
            """,
            purchase)
        try database.insert(
            into: "team_revocation",
            ["user_id"] + Table.originalKey + ["sequence", "reason", "revoked_by", "revoked_at"],
            [purchase + [(last ?? 0) + 1, change.reason, change.caller, change.moment]])
    }
}
