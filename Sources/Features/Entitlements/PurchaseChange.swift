import Ledger
import Proofs

/// A change that the team makes to a purchase, with the reason in the team's own words.
package enum PurchaseChange: Hashable, Sendable {
    case revoke(reason: String)
    /// - reason: The reason for the audit log; nil if none is given.
    case reinstate(reason: String? = nil)
}

extension EntitlementService {
    /// Revokes the purchase of a redeemed transaction, or reinstates one that the team has revoked. A revocation by the App Store
    /// stays in effect.
    ///
    /// - Parameters:
    ///   - origin: Nil if only one origin uses the identifier.
    ///   - app: The bundle identifier of the only app whose transactions are searched; nil for all apps.
    ///   - caller: The identifier of the API key.
    package func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        by caller: String
    ) async throws -> RedeemedTransaction {
        let found = try await ledger.write {
            try $0.change(
                change, ofTransaction: identifier, origin: origin, in: limitingApp ?? app, of: user, by: caller,
                at: try now(of: user, $0), accepting: accepted)
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
    ///   - caller: The identifier of the API key.
    /// - Returns: The transaction after the change; empty if the user has redeemed none of that identifier. Several, unchanged,
    ///   if origins share the identifier.
    package func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        in app: String? = nil,
        of user: User,
        by caller: String,
        at moment: Timestamp,
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
        let transaction = transactions[0]
        if let original = try apply(change, to: transaction, of: user, by: caller, at: moment) {
            let (event, reason): (AuditEntry.Event, String?) =
                switch change {
                case .revoke(let reason): (.revoked, reason)
                case .reinstate(let reason): (.granted, reason)
                }
            try audit.append(
                AuditEntry(
                    happenedAt: moment, event: event, actor: AuditActor(caller: caller), origin: transaction.origin,
                    app: transaction.app, reference: transaction.transactionIdentifier,
                    subject: transaction.productIdentifier, reason: reason),
                to: user)
            _ = try recordStates(of: [original], try apps, from: Viewpoint(accepting: accepted, at: moment))
        }
        return try found()
    }

    /// - Returns: The purchase; nil if the change was already in effect. Nothing is then changed.
    private func apply(
        _ change: PurchaseChange,
        to transaction: RedeemedTransaction,
        of user: Int64,
        by caller: String,
        at moment: Timestamp
    ) throws -> TransactionKey? {
        let apps = try apps
        let records = EntitlementRecords(database: database, apps: apps)
        let original = try records.original(ofTransaction: transaction.sequence, of: user)
        let before = try records.facts(ofPurchases: [original])
        var after = before.decision(at: moment)
        let purchase = [user] + original.sqlValues(apps)
        switch change {
        case .revoke(let reason):
            guard after.facts.revokedByTeam.insert(original).inserted else { return nil }
            let last: Int64? = try database.value(
                """
                SELECT coalesce(max(sequence), 0) FROM team_revocation
                WHERE user_id = $1 AND original_transaction_id = $2 AND origin = $3 AND app = $4
                """,
                purchase)
            try database.insert(
                into: "team_revocation",
                ["user_id"] + Table.originalKey + ["sequence", "reason", "revoked_by", "revoked_at"],
                [purchase + [(last ?? 0) + 1, reason, caller, moment]])
        case .reinstate:
            guard after.facts.revokedByTeam.remove(original) != nil else { return nil }
            // The author and the reason of the revocation are kept.
            try database.write(
                """
                UPDATE team_revocation SET reinstated_by = $1, reinstated_at = $2
                WHERE user_id = $3 AND original_transaction_id = $4 AND origin = $5 AND app = $6
                    AND reinstated_at IS NULL
                """,
                [caller, moment] + purchase)
        }
        try EntitlementChangeRecords(transaction: self, apps: apps, before: before, decision: after)
            .updateBenefits(of: [original], .init(before: before))
        return original
    }
}
