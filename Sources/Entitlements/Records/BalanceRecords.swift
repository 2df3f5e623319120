import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

extension EntitlementService {
    /// The balances of a user by name: those of the catalog, and any other that the user has ever had.
    package func balances(of user: User) async throws -> [Credit] {
        let limit = limit
        let (had, hidden) = try await ledger.read { transaction in
            (
                try transaction.balances(of: user, accepting: accepted.origins(for: user)),
                try limit.map { try transaction.balances(of: user, filledOutside: $0) } ?? []
            )
        }
        let others = catalogs.balances.filter { name in !had.contains { $0.balance == name } }
        return (had + others.map { Credit(balance: $0, amount: 0) })
            .filter { !hidden.contains(ByteKey($0.balance)) && limit?.owns(balance: $0.balance) ?? true }
            .sorted { $0.balance < $1.balance }
    }

    /// A new addition to a balance. It is not stored yet.
    ///
    /// - Parameter caller: The identifier of the API key.
    /// - Throws: `BalanceError.balanceUnknown` for a balance that no product adds to.
    package func newAddition(
        of amount: Int,
        to balance: String,
        reason: String,
        by caller: String
    ) throws(BalanceError) -> BalanceAddition {
        guard catalogs.balances.contains(where: { $0.hasSameBytes(as: balance) }) else {
            throw .balanceUnknown(balance)
        }
        return BalanceAddition(
            identifier: UUID(randomness: randomness).lowercasedString, balance: balance, amount: amount, reason: reason,
            addedBy: caller, addedAt: clock.now())
    }

    /// Adds to a user's balance, and stores the answer to the caller in the same commit. Adds nothing if another process has
    /// stored an answer under the same key.
    ///
    /// - Returns: The answer that another process has stored under the key; nil if the amount was added.
    package func add(
        _ addition: BalanceAddition,
        for user: User,
        keeping answer: KeptAnswer? = nil
    ) async throws -> KeptAnswer? {
        let limit = limit
        try limit?.check(balance: addition.balance)
        return try await ledger.write { transaction in
            if let limit { try transaction.check(addition.balance, of: user, isOnlyOf: limit) }
            return try transaction.add(addition, for: user, keeping: answer)
        }
    }

    /// A new spending. It is not stored yet.
    ///
    /// - Parameters:
    ///   - caller: The identifier of the API key.
    ///   - request: Nil for a request without an idempotency key.
    package func newSpending(
        of amount: Int,
        from balance: String,
        reason: String,
        by caller: String,
        for request: Spending.Request? = nil
    ) -> Spending {
        Spending(
            identifier: UUID(randomness: randomness).lowercasedString, balance: balance, amount: amount,
            reason: reason, spentBy: caller, spentAt: clock.now(), request: request)
    }

    /// Spends a part of a user's balance, never more than it holds, and once for each idempotency key of the user.
    package func spend(_ spending: Spending, for user: User) async throws -> SpentBalance {
        let limit = limit
        try limit?.check(balance: spending.balance)
        do {
            return try await ledger.write {
                try $0.spend(spending, for: user, accepting: accepted.origins(for: user), seeing: limit)
            }
        } catch let error as BalanceError {
            guard case .balanceTooLow = error else { throw error }
            // Users can still spend a balance that the catalog no longer has, if they have ever had some of it.
            let isKnown = try await balances(of: user).contains { ByteKey($0.balance) == ByteKey(spending.balance) }
            throw isKnown ? error : BalanceError.balanceUnknown(spending.balance)
        }
    }
}

/// The amount of a credit that counts, which follows from the last statement about its transaction.
enum CountedCredit {
    /// The SQL of the amount, in a statement about `credit`.
    ///
    /// A refund of a part takes the same part of the amount: "If the purchase had a quantity greater than 1, this percentage applies to
    /// the full quantity. For example, if 1 of 3 items was refunded, the value would be approximately 33.333" (StoreKit,
    /// `revocationPercentage`). So the nearest whole amount is taken. A revocation by the team takes all.
    static let amount = """
        CASE WHEN credit.is_revoked = 0 THEN credit.amount ELSE coalesce((
            SELECT credit.amount - credit.amount / 100000 * taken.revocation_percentage
                - (credit.amount % 100000 * taken.revocation_percentage + 50000) / 100000
            FROM redeemed_transaction AS taken
            WHERE taken.user_id = credit.user_id AND taken.sequence = credit.sequence
                AND taken.revocation_type = '\(RevocationType.refundProrated.rawValue)'
                AND taken.revocation_percentage BETWEEN 0 AND 100000 AND NOT EXISTS (
                    SELECT 1 FROM team_revocation AS revoked
                    WHERE revoked.user_id = taken.user_id AND revoked.origin = taken.origin
                        AND revoked.original_transaction_id = taken.original_transaction_id
                        AND revoked.app = taken.app AND reinstated_at IS NULL)), 0) END
        """
}

extension LedgerTransaction {
    /// Adds to a user's balance, and stores the answer to the caller in the same commit. Adds nothing if another process has stored an
    /// answer under the same key.
    ///
    /// - Returns: The answer that another process has stored; nil if the amount was added.
    package func add(
        _ addition: BalanceAddition, for user: User, keeping answer: KeptAnswer? = nil
    ) throws -> KeptAnswer? {
        let (user, moment) = (try number(of: user, at: addition.addedAt), addition.addedAt)
        if let kept = try earlierAnswer(orKeeping: answer, about: user, at: moment) { return kept }
        var heads = try users.heads(of: [user])
        try database.insert(
            into: "balance_addition",
            ["addition_id", "user_id", "balance", "amount", "reason", "added_by", "added_at"],
            [
                [
                    addition.identifier, user, addition.balance, addition.amount, addition.reason, addition.addedBy,
                    moment,
                ]
            ])
        let entry = AuditEntry(
            by: addition.addedBy, .credited, addition.identifier, "\(addition.amount) \(addition.balance)",
            .amount(addition.amount, of: addition.balance), reason: addition.reason, at: moment)
        try record(entry, of: user, &heads)
        return nil
    }

    /// The names of the balances to which a user's purchases of other apps than the caller's have added.
    fileprivate func balances(of user: User, filledOutside limit: AppLimit) throws -> Set<ByteKey> {
        guard let user = try users.known(user) else { return [] }
        return Set(
            try database.rows(
                """
                SELECT DISTINCT balance FROM credit JOIN redeemed_transaction AS redeemed USING (user_id, sequence)
                WHERE user_id = $1 AND redeemed.app NOT IN (SELECT app FROM app WHERE bundle_id = $2)
                """,
                [user, limit.app]
            ) { ByteKey(try $0.next()) })
    }

    /// Checks that no purchase of another app has added to a user's balance.
    ///
    /// - Throws: `AppLimitError`.
    fileprivate func check(_ balance: String, of user: User, isOnlyOf limit: AppLimit) throws {
        guard try !balances(of: user, filledOutside: limit).contains(ByteKey(balance)) else {
            throw AppLimitError.balanceOfAnotherApp(balance, app: limit.app)
        }
    }

    /// The balances that a user has ever had, by name, as users see them, with the purchases of some origins.
    package func balances(of user: User, accepting origins: Set<Origin>) throws -> [Credit] {
        guard let user = try users.known(user) else { return [] }
        return try balances(of: user, accepting: origins).map(\.credit)
    }

    private func balances(of user: Int64, accepting origins: Set<Origin>) throws -> [Balance] {
        var parts: [(name: String, parts: [Balance.Part])] = []
        try database.forEachRow(
            """
            SELECT balance, merged_from, CAST(sum(bought) AS BIGINT), CAST(sum(spent) AS BIGINT) FROM (
                SELECT balance, merged_from, \(CountedCredit.amount) AS bought, 0 AS spent
                FROM credit WHERE user_id = $1 AND origin IN \(origins.sqlList)
                UNION ALL
                SELECT balance, merged_from, amount, 0 FROM balance_addition WHERE user_id = $1
                UNION ALL
                SELECT balance, merged_from, 0, amount FROM spending WHERE user_id = $1) AS movement
            GROUP BY balance, merged_from ORDER BY balance
            """,
            [user]
        ) { row in
            let (name, mergedFrom): (String, Int64?) = (try row.next(), try row.next())
            if parts.last?.name.hasSameBytes(as: name) != true { parts.append((name, [])) }
            parts[parts.count - 1].parts.append(
                (bought: try row.next(), spent: try row.next(), isMerged: mergedFrom != nil))
        }
        return parts.map { Balance(name: $0.name, parts: $0.parts) }
    }

    /// Spends a part of a user's balance, once for each idempotency key of the user.
    ///
    /// - Parameters:
    ///   - origins: The origins whose purchases add to the balance.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    /// - Throws: `BalanceError`; `AppLimitError` for a balance to which purchases of another app have added.
    package func spend(
        _ spending: Spending,
        for user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil
    ) throws -> SpentBalance {
        if let limit { try check(spending.balance, of: user, isOnlyOf: limit) }
        guard let user = try users.known(user) else { return try spending.answer(from: [], earlier: nil) }
        // The heads are read first, so that a concurrent writer changes their version.
        var heads = try users.heads(of: [user])
        let answer = try spending.answer(
            from: try balances(of: user, accepting: origins), earlier: try earlier(for: spending.request, of: user))
        guard !answer.isRepeated else { return answer }
        try database.insert(
            into: "spending", ["user_id", "idempotency_key"] + Self.spendingColumns,
            [
                [
                    user, spending.request?.idempotencyKey, spending.identifier, spending.balance, spending.amount,
                    spending.reason, spending.spentBy, spending.spentAt, spending.request?.digest, answer.left,
                ]
            ])
        let entry = AuditEntry(
            by: spending.spentBy, .spent, spending.identifier, "\(spending.amount) \(spending.balance)",
            .amount(-spending.amount, of: spending.balance), reason: spending.reason, at: spending.spentAt)
        try record(entry, of: user, &heads)
        return answer
    }

    private static let spendingColumns = [
        "spending_id", "balance", "amount", "reason", "spent_by", "spent_at", "request_digest", "left_after",
    ]

    /// The spending under the idempotency key of a request; nil if there is none.
    private func earlier(for request: Spending.Request?, of user: Int64) throws -> Spending.Earlier? {
        guard let key = request?.idempotencyKey else { return nil }
        return try database.row(
            """
            SELECT \(Self.spendingColumns.joined(separator: ", ")) FROM spending
            WHERE user_id = $1 AND idempotency_key = $2
            """,
            [user, key]
        ) {
            (
                spending: Spending(
                    identifier: try $0.next(), balance: try $0.next(), amount: try $0.next(), reason: try $0.next(),
                    spentBy: try $0.next(), spentAt: try $0.next(),
                    request: Spending.Request(idempotencyKey: key, digest: try $0.next())),
                left: try $0.next()
            )
        }
    }
}

extension Table {
    /// A spending. `left_after`: the amount left after it; `merged_from`: as that of a credit.
    static let spending = Table(
        name: "spending", family: .userData,
        columns: [
            .integer("user_id"), .packed("spending_id"), .text("balance"), .integer("amount", check: "amount > 0"),
            .text("reason", check: "reason <> ''"), .text("spent_by"), .integer("spent_at"),
            .text("idempotency_key").optional, .blob("request_digest", count: 32).optional,
            .integer("left_after"), .integer("merged_from").optional,
        ],
        key: ["user_id", "spending_id"],
        erasure: .update("reason = 'erased', idempotency_key = NULL, request_digest = NULL"), merge: .byRule
    )
    .indexed(
        "spending_by_idempotency_key", by: ["user_id", "idempotency_key"], isUnique: true,
        where: "idempotency_key IS NOT NULL")

    /// An amount that the team has added to a balance. `merged_from`: as that of a credit.
    static let balanceAddition = Table(
        name: "balance_addition", family: .userData,
        columns: [
            .integer("user_id"), .packed("addition_id"), .text("balance", check: "balance <> ''"),
            .integer("amount", check: "amount > 0"), .text("reason", check: "reason <> ''"), .text("added_by"),
            .integer("added_at"), .integer("merged_from").optional,
        ],
        key: ["user_id", "addition_id"], erasure: .update("reason = 'erased'"), merge: .byRule)
}
