import Ledger
import Proofs
import Vocabulary

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
        return try found.only
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
            try transactions(identifier, from: origin, in: app, of: user)
        }
        let known = try found()
        guard known.count == 1, let transaction = known.first else { return known }
        if let originals = try apply(change, to: transaction, of: user, by: caller, at: moment) {
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
            _ = try recordStates(of: originals, try apps, from: Viewpoint(accepting: accepted, at: moment))
        }
        return try found()
    }

    /// The owners of transactions of an identifier whose purchase a request may move.
    ///
    /// - Parameter user: The owner that the request names; nil for any.
    func owners(of identifier: String, named user: User?) throws -> [Int64] {
        if let user, let number = try users.known(user),
            try !ReadingRecords(database: database).transactions([identifier], of: number).isEmpty
        {
            return [number]
        }
        let owners = Set(
            try database.rows(
                "SELECT user_id FROM claim WHERE transaction_id = $1 AND user_id IS NOT NULL",
                [SQLValue.packed(identifier)]
            ) { try $0.next() as Int64 })
        return try (user == nil ? owners : Set(users.erased(among: owners).keys)).sorted()
    }

    /// A user's transactions of an identifier.
    ///
    /// - Parameters:
    ///   - origin: Nil for any origin.
    ///   - app: The bundle identifier of the only app; nil for all apps.
    func transactions(
        _ identifier: String, from origin: Origin?, in app: String?, of user: Int64
    ) throws -> [RedeemedTransaction] {
        try ReadingRecords(database: database).transactions([identifier], of: user).filter {
            (origin == nil || $0.origin == origin) && app?.hasSameBytes(as: $0.app ?? "") ?? true
        }
    }

    /// - Returns: The purchase, and those whose ends follow from it; nil if the change was already in effect. Nothing is then changed.
    func apply(
        _ change: PurchaseChange,
        to transaction: RedeemedTransaction,
        of user: Int64,
        by caller: String,
        at moment: Timestamp
    ) throws -> Set<TransactionKey>? {
        let apps = try apps
        let records = EntitlementRecords(database: database, apps: apps)
        let original = try records.original(ofTransaction: transaction.sequence, of: user)
        var before = try records.facts(ofPurchases: [original])
        if before.haveFixedPeriods { try records.readFixedPeriods(of: [user], into: &before) }
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
        after.extendFixedPeriods()
        let changes = EntitlementChangeRecords(transaction: self, apps: apps, before: before, decision: after)
        if !after.changes.stated.isEmpty { try changes.write() }
        try changes.updateBenefits(of: [original], .init(before: before))
        return after.changes.stated.union([original])
    }
}

extension EntitlementService {
    /// Moves the purchase of a redeemed transaction to another user, with all its transactions and the renewals to come. At Google Play,
    /// the other purchases under its token move, too, as far as they are the same user's: whoever has the token presents all of them. The
    /// ownership policy does not hinder the team. An account token does, and so does an amount that the purchase added to a balance.
    ///
    /// An erased owner has no name. So the purchase of one is found whichever user is named, if that user has none of the identifier.
    ///
    /// - Parameters:
    ///   - user: The owner; nil for any.
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
        of user: User?,
        to other: User,
        reason: String,
        by caller: String
    ) async throws -> RedeemedTransaction {
        let (origins, app) = (accepted.origins(for: other), limitingApp ?? app)
        let found = try await ledger.write { transaction -> [RedeemedTransaction] in
            try transaction.requireName(of: other)
            func found(of owner: Int64) throws -> [RedeemedTransaction] {
                try transaction.transactions(identifier, from: origin, in: app, of: owner)
            }
            let owners = try transaction.owners(of: identifier, named: user)
            let moved = try owners.flatMap { former in try found(of: former).map { (former, $0) } }
            guard let (former, first) = moved.first, moved.count == 1 else { return moved.map(\.1) }
            guard let owner = try transaction.users.known(other) else { throw LedgerError.userUnknown }
            guard origins.contains(first.origin) else { throw AssignmentError.originNotAccepted(first.origin) }
            let apps = try transaction.apps
            let records = EntitlementRecords(database: transaction.database, apps: apps)
            let original = try records.original(ofTransaction: first.sequence, of: former)
            let chain = try transaction.googleChain(of: original.identifier).map {
                TransactionKey(app: original.app, origin: original.origin, identifier: $0)
            }
            var before = try records.facts(ofPurchases: Set(chain + [original]))
            before.erasedOwners = try transaction.users.erased(among: [former])
            if before.haveFixedPeriods { try records.readFixedPeriods(of: [former, owner], into: &before) }
            var decision = before.decision(at: try now(of: user ?? other, transaction))
            for line in chain where before.purchases[line]?.owner == former {
                try decision.move(line, to: owner, reason: reason, by: AuditActor(caller: caller))
            }
            decision.extendFixedPeriods()
            try EntitlementChangeRecords(transaction: transaction, apps: apps, before: before, decision: decision)
                .write()
            return try found(of: owner)
        }
        return try found.only
    }
}

extension [RedeemedTransaction] {
    /// The transaction of an identifier, if only one was found.
    fileprivate var only: RedeemedTransaction {
        get throws(GrantError) {
            guard let first else { throw .transactionNotFound }
            guard count == 1 else { throw .transactionAmbiguous }
            return first
        }
    }
}

/// The error of a grant, a revocation or a move. Nothing was changed.
package enum GrantError: RuledError, Equatable {
    case itemUnknown(Item)
    case endPassed
    case grantNotFound
    case transactionNotFound
    /// Two origins use the same identifier.
    case transactionAmbiguous
    /// The purchase to move has its owner's account token.
    case accountTokenDecides
    case purchaseAddsToBalance

    package var rule: ErrorRule {
        switch self {
        case .itemUnknown(let item):
            ErrorRule(
                "itemUnknown", .unprocessable, isOfOperator: true, "No product of the catalog grants \(item).",
                korean: "이 아이템을 제공하는 상품이 카탈로그에 없습니다.")
        case .endPassed:
            ErrorRule(
                "endPassed", .unprocessable, "The end of the grant is in the past. Give a future date, or none.",
                korean: "지급이 끝나는 날이 과거입니다. 미래의 날짜를 입력하거나 비워 두세요.")
        case .grantNotFound:
            ErrorRule(
                "grantNotFound", .notFound, "The user has no grant of this identifier.",
                korean: "사용자에게 이 식별자의 지급이 없습니다.")
        case .transactionNotFound:
            ErrorRule(
                "transactionNotFound", .notFound, "The user has redeemed no transaction of this identifier.",
                korean: "이 식별자의 거래가 없습니다.")
        case .transactionAmbiguous:
            ErrorRule(
                "transactionAmbiguous", .conflict,
                "The user has transactions of this identifier from two origins. Name one in the query parameter origin.",
                korean: "출처가 다른 두 거래의 식별자가 같습니다. 출처를 지정하세요.")
        case .accountTokenDecides:
            Redemption.Result.appAccountTokenMismatch.rule.stating(
                "The purchase has its owner's account token, which decides. It cannot be moved.")
        case .purchaseAddsToBalance:
            ErrorRule(
                "purchaseAddsToBalance", .conflict,
                "The purchase has added to a balance, which may be spent, and cannot be moved. Add to the balance of the "
                    + "other user instead.",
                korean: "잔액을 늘린 구매는 이미 사용했을 수 있어 옮길 수 없습니다. 대신 다른 사용자의 잔액을 늘리세요.")
        }
    }
}

extension Table {
    /// A revocation by the team. It applies regardless of the App Store's statements, and to each transaction that restores the
    /// purchase.
    static let teamRevocation = Table(
        name: "team_revocation", family: .userData,
        columns: [
            .integer("user_id"), .packed("original_transaction_id"), .origin("origin"), .integer("app"),
            .integer("sequence", check: "sequence > 0"), .text("reason", check: "reason <> ''"), .text("revoked_by"),
            .integer("revoked_at"), .text("reinstated_by").optional, .integer("reinstated_at").optional,
        ],
        key: ["user_id"] + originalKey + ["sequence"],
        checks: ["(reinstated_by IS NULL) = (reinstated_at IS NULL)"],
        erasure: .update("reason = 'erased'"), merge: .move
    )
    .indexed(
        "team_revocation_that_stands", by: ["user_id"] + originalKey, isUnique: true, where: "reinstated_at IS NULL")
}
