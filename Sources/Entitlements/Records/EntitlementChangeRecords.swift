import Commerce
import Foundation
import Ledger

/// The statements that write the changes of a decision, inside a transaction that the caller holds.
struct EntitlementChangeRecords {
    let database: any LedgerDatabase
    let audit: AuditRecords
    let moment: Timestamp

    func write(_ changes: [EntitlementChange]) throws {
        for change in changes { try write(change) }
    }

    private func write(_ change: EntitlementChange) throws {
        switch change {
        case .refused(let result, let claim, let user, let actor): try refuse(claim, result, by: actor, to: user)
        case .purchase(let original, let owner, let naming): try insert(original, naming, of: owner)
        case .transaction(let claim, let standing, let owner): try insert(claim, standing, of: owner)
        case .standing(let key, let standing): try update(key, standing)
        case .grace(let key, let grace): try update(key, grace)
        case .naming(let original, let naming): try update(original, naming)
        case .transfer(let original, let former, let owner): try transfer(original, from: former, to: owner)
        case .parked(let claim, let standing): try park(claim, standing)
        case .unparked(let key):
            try database.write(
                "DELETE FROM parked_transaction WHERE origin = $1 AND transaction_id = $2",
                [key.origin, key.identifier])
        case .audit(let entry, let user): try audit.append(entry, to: user)
        case .endChanged(let product, let user):
            try EventRecords(database: database).append(
                UserChange(kind: .endChanged, subject: product, happenedAt: moment), to: user)
        }
    }

    /// Records a refusal once for each user, transaction and result: an app tries again at every launch.
    private func refuse(
        _ claim: Claim,
        _ result: Redemption.Result,
        by actor: AuditActor,
        to user: Int64
    ) throws {
        let isNew =
            try database.execute(
                """
                INSERT INTO refusal (user_id, origin, transaction_id, reason) VALUES ($1, $2, $3, $4)
                ON CONFLICT DO NOTHING
                """,
                [user, claim.origin, claim.transactionIdentifier, result.rawValue]) == 1
        guard isNew else { return }
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .refused, actor: actor, origin: claim.origin,
                reference: claim.transactionIdentifier, subject: claim.productIdentifier, reason: result.rawValue),
            to: user)
    }

    private func insert(_ original: TransactionKey, _ naming: Naming?, of owner: Int64) throws {
        try database.write(
            """
            INSERT INTO original_transaction (
                origin, original_transaction_id, user_id, named_at, named_by, named_stated_at
            ) VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                original.origin, original.identifier, owner, naming?.purchaseDate, naming?.transactionIdentifier,
                naming?.statedAt,
            ])
    }

    private func insert(_ claim: Claim, _ standing: Standing, of owner: Int64) throws {
        // Numbered for each user, so that nobody waits for another's number.
        try database.write(
            """
            INSERT INTO redeemed_transaction (
                origin, transaction_id, original_transaction_id, user_id, product_id, quantity,
                purchase_date, revocation_date, revocation_reason, expires_at, stated_at, redeemed_at, proof_digest,
                sequence
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
                (SELECT coalesce(max(sequence), 0) + 1 FROM redeemed_transaction WHERE user_id = $4))
            """,
            [
                claim.origin, claim.transactionIdentifier, claim.originalTransactionIdentifier, owner,
                claim.productIdentifier, claim.quantity, claim.purchaseDate, standing.revocationDate,
                standing.revocationReason, standing.expiresAt, standing.statedAt, moment, claim.proofDigest,
            ])
        if let credit = claim.credit {
            try database.write(
                "INSERT INTO credit (origin, transaction_id, user_id, balance, amount) VALUES ($1, $2, $3, $4, $5)",
                [
                    claim.origin, claim.transactionIdentifier, owner, credit.balance, credit.amount * claim.quantity,
                ])
        }
        guard let item = claim.item else { return }
        try database.write(
            """
            INSERT INTO entitlement (user_id, collection, number, origin, transaction_id, granted_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [owner, item.collection, item.number, claim.origin, claim.transactionIdentifier, moment])
    }

    private func update(_ key: TransactionKey, _ standing: Standing) throws {
        try database.write(
            """
            UPDATE redeemed_transaction
            SET revocation_date = $1, revocation_reason = $2, stated_at = $3, expires_at = $4
            WHERE origin = $5 AND transaction_id = $6
            """,
            [
                standing.revocationDate, standing.revocationReason, standing.statedAt, standing.expiresAt, key.origin,
                key.identifier,
            ])
    }

    private func update(_ key: TransactionKey, _ grace: GracePeriod) throws {
        try database.write(
            """
            UPDATE redeemed_transaction SET grace_ends_at = $1, grace_stated_at = $2
            WHERE origin = $3 AND transaction_id = $4
            """,
            [grace.endsAt, grace.statedAt, key.origin, key.identifier])
    }

    private func update(_ original: TransactionKey, _ naming: Naming) throws {
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

    /// Gives a purchase to another user with all its transactions, which are the newest in the new owner's list.
    private func transfer(_ original: TransactionKey, from former: Int64, to owner: Int64) throws {
        // Beyond every number that either user has, in their order.
        var number = try max(lastNumber(of: former), lastNumber(of: owner))
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

    private func lastNumber(of user: Int64) throws -> Int64 {
        try database.value(
            "SELECT coalesce(max(sequence), 0) FROM redeemed_transaction WHERE user_id = $1", [user]) ?? 0
    }

    private func park(_ claim: Claim, _ standing: Standing) throws {
        try database.write(
            """
            INSERT INTO parked_transaction (origin, transaction_id, revocation_date, revocation_reason, stated_at,
                expires_at, original_transaction_id, claim) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                claim.origin, claim.transactionIdentifier, standing.revocationDate, standing.revocationReason,
                standing.statedAt, standing.expiresAt, claim.originalTransactionIdentifier,
                [UInt8](try JSONEncoder().encode(claim)),
            ])
    }
}
