import Commerce
import Foundation
import Ledger

/// The SQL that writes the changes of a decision, inside a transaction that the caller holds.
///
/// The number of statements does not depend on the number of claims. Updates, transfers, parked statements and changed ends are
/// the exceptions: each row takes a statement.
struct EntitlementChangeRecords {
    let database: any LedgerDatabase
    let audit: AuditRecords
    /// The facts after the decision.
    let facts: EntitlementFacts
    let moment: Timestamp

    func write(_ changes: [EntitlementChange]) throws {
        let changes = EntitlementChangeSet(changes)
        for transfer in changes.transfers { try move(transfer.original, from: transfer.former, to: transfer.owner) }
        try insertPurchases(changes.newPurchases)
        try insertTransactions(changes.newTransactions)
        for key in changes.changedTransactions { try update(key) }
        for original in changes.newlyNamed { try updateNaming(of: original) }
        for key in changes.parkedOrUnparked.sorted() { try writeParked(key) }
        try append(changes.events)
        for end in changes.newEnds {
            try EventRecords(database: database).append(
                UserChange(kind: .endChanged, subject: end.productIdentifier, happenedAt: moment), to: end.user)
        }
    }

    private func insertPurchases(_ originals: [TransactionKey]) throws {
        try database.insert(
            into: "original_transaction",
            [
                .text("origin"), .text("original_transaction_id"), .integer("user_id"), .integer("transferred_at"),
                .integer("named_at"), .text("named_by"), .integer("named_stated_at"),
            ],
            // In the order of their keys, so that two groups do not wait for each other.
            originals.sorted().compactMap { original in
                facts.purchases[original].map { purchase in
                    [
                        original.origin, original.identifier, purchase.owner, purchase.transferredAt,
                        purchase.naming?.purchaseDate, purchase.naming?.transactionIdentifier,
                        purchase.naming?.statedAt,
                    ]
                }
            })
    }

    /// A new transaction, its claim and its owner.
    private typealias NewTransaction = (claim: Claim, transaction: EntitlementFacts.Transaction, owner: Int64)

    private func insertTransactions(_ claims: [Claim]) throws {
        guard !claims.isEmpty else { return }
        let new: [NewTransaction] = claims.compactMap { claim in
            guard let transaction = facts.transactions[claim.key],
                let owner = facts.purchases[transaction.originalKey]?.owner
            else { return nil }
            return (claim, transaction, owner)
        }
        var last = try lastNumbers(of: Set(new.map(\.owner)))
        try database.insert(
            into: "redeemed_transaction",
            [
                .text("origin"), .text("transaction_id"), .text("original_transaction_id"), .integer("user_id"),
                .integer("sequence"), .text("product_id"), .integer("quantity"), .integer("purchase_date"),
                .integer("revocation_date"), .integer("revocation_reason"), .integer("expires_at"),
                .integer("stated_at"), .integer("grace_ends_at"), .integer("grace_stated_at"), .integer("redeemed_at"),
                .blob("proof_digest"),
            ],
            new.map { claim, transaction, owner in
                // Numbered for each user, so that nobody waits for another's number.
                last[owner, default: 0] += 1
                let (standing, grace) = (transaction.standing, transaction.grace)
                return [
                    claim.origin, claim.transactionIdentifier, claim.originalTransactionIdentifier, owner, last[owner],
                    claim.productIdentifier, claim.quantity, claim.purchaseDate, standing.revocationDate,
                    standing.revocationReason, standing.expiresAt, standing.statedAt, grace?.endsAt, grace?.statedAt,
                    moment, claim.proofDigest,
                ]
            })
        try insertCredits(new)
        try insertEntitlements(new)
    }

    private func insertCredits(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "credit",
            [
                .text("origin"), .text("transaction_id"), .integer("user_id"), .text("balance"), .integer("amount"),
            ],
            new.compactMap { claim, _, owner in
                claim.credit.map { credit in
                    [
                        claim.origin, claim.transactionIdentifier, owner, credit.balance,
                        credit.amount * claim.quantity,
                    ]
                }
            })
    }

    private func insertEntitlements(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "entitlement",
            [
                .integer("user_id"), .text("collection"), .integer("number"), .text("origin"), .text("transaction_id"),
                .integer("granted_at"),
            ],
            new.compactMap { claim, _, owner in
                claim.item.map { item in
                    [owner, item.collection, item.number, claim.origin, claim.transactionIdentifier, moment]
                }
            })
    }

    /// The last number of a transaction in each user's list; none for a user without any.
    private func lastNumbers(of users: Set<Int64>) throws -> [Int64: Int64] {
        var last: [Int64: Int64] = [:]
        let rows = try database.rows(
            """
            SELECT user_id, max(sequence) AS last FROM \(database.listed("$1"))
                JOIN redeemed_transaction ON user_id = listed.value
                AND sequence = (SELECT max(sequence) FROM redeemed_transaction AS each WHERE each.user_id = listed.value)
            GROUP BY user_id
            """,
            [database.list(users.sorted())])
        for row in rows { last[try row["user_id"]] = try row["last"] as Int64 }
        return last
    }

    private func update(_ key: TransactionKey) throws {
        guard let transaction = facts.transactions[key] else { return }
        let (standing, grace) = (transaction.standing, transaction.grace)
        try database.write(
            """
            UPDATE redeemed_transaction
            SET revocation_date = $1, revocation_reason = $2, stated_at = $3, expires_at = $4, grace_ends_at = $5,
                grace_stated_at = $6
            WHERE origin = $7 AND transaction_id = $8
            """,
            [
                standing.revocationDate, standing.revocationReason, standing.statedAt, standing.expiresAt,
                grace?.endsAt, grace?.statedAt, key.origin, key.identifier,
            ])
    }

    private func updateNaming(of original: TransactionKey) throws {
        guard let naming = facts.purchases[original]?.naming else { return }
        try database.write(
            """
            UPDATE original_transaction SET named_at = $1, named_by = $2, named_stated_at = $3
            WHERE origin = $4 AND original_transaction_id = $5
            """,
            [
                naming.purchaseDate, naming.transactionIdentifier, naming.statedAt, original.origin,
                original.identifier,
            ])
    }

    /// Moves a purchase to another user with all its transactions, which are the newest in the new owner's list.
    private func move(_ original: TransactionKey, from former: Int64, to owner: Int64) throws {
        // Beyond every number that either user has, in their order.
        var number = try lastNumbers(of: [former, owner]).values.max() ?? 0
        let moving = try database.rows(
            """
            SELECT transaction_id FROM redeemed_transaction
            WHERE origin = $1 AND original_transaction_id = $2 ORDER BY sequence
            """,
            [original.origin, original.identifier])
        for row in moving {
            number += 1
            try database.write(
                "UPDATE redeemed_transaction SET sequence = $1 WHERE origin = $2 AND transaction_id = $3",
                [number, original.origin, try row["transaction_id"] as String])
        }
        // The keys carry it on to the transactions, and from them to what they grant.
        try database.write(
            """
            UPDATE original_transaction SET user_id = $1, transferred_at = $2
            WHERE origin = $3 AND original_transaction_id = $4
            """,
            [owner, moment, original.origin, original.identifier])
    }

    private func writeParked(_ key: TransactionKey) throws {
        try database.write(
            "DELETE FROM parked_transaction WHERE origin = $1 AND transaction_id = $2", [key.origin, key.identifier])
        guard let parked = facts.parked[key], let claim = parked.claim else { return }
        let standing = parked.standing
        try database.write(
            """
            INSERT INTO parked_transaction (origin, transaction_id, revocation_date, revocation_reason, stated_at,
                expires_at, original_transaction_id, claim) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                key.origin, key.identifier, standing.revocationDate, standing.revocationReason, standing.statedAt,
                standing.expiresAt, claim.originalTransactionIdentifier, [UInt8](try JSONEncoder().encode(claim)),
            ])
    }

    private func append(_ events: [(event: EntitlementChangeSet.Event, user: Int64)]) throws {
        let refused = events.compactMap { event, user in
            if case .refusal(let result, let claim, _) = event { Refusal(user, claim, result) } else { nil }
        }
        var known = try RefusalRecords(database: database).known(among: refused)
        var new: [Refusal] = []
        let entries = events.compactMap { event, user -> (AuditEntry, Int64)? in
            switch event {
            case .entry(let entry): return (entry, user)
            case .refusal(let result, let claim, let actor):
                let refusal = Refusal(user, claim, result)
                guard known.insert(refusal).inserted else { return nil }
                new.append(refusal)
                return (
                    AuditEntry(
                        happenedAt: moment, event: .refused, actor: actor, origin: claim.origin,
                        reference: claim.transactionIdentifier, subject: claim.productIdentifier,
                        reason: result.rawValue),
                    user
                )
            }
        }
        try RefusalRecords(database: database).insert(new)
        try audit.append(entries)
    }
}
