import Commerce
import Foundation
import GRDB

/// What was said of transactions that nobody has claimed.
extension LedgerRecords {
    /// Keeps a statement about a transaction that nobody has claimed; of two the later, with what either says of a grace
    /// period.
    func park(_ claim: Claim) throws {
        guard let kept = try takeParked(claim) else { return try insertParked(claim, Standing(claim)) }
        let isLater = Standing(claim).isLater(than: kept.standing)
        let (later, earlier) = isLater ? (claim, kept.claim) : (kept.claim ?? claim, claim)
        try insertParked(
            later.grace == nil ? later.with(grace: earlier?.grace) : later, isLater ? Standing(claim) : kept.standing)
    }

    /// What is kept of a transaction that nobody has claimed; of one parked by an early version without the claim.
    typealias Parked = (standing: Standing, claim: Claim?)

    private func insertParked(_ claim: Claim, _ standing: Standing) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO parked_transaction (origin, transaction_id, revocation_date, revocation_reason, stated_at,
                    expires_at, original_transaction_id, claim) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            claim.origin.rawValue, claim.transactionIdentifier, standing.revocationDate, standing.revocationReason,
            standing.statedAt, standing.expiresAt, claim.originalTransactionIdentifier,
            try JSONEncoder().encode(claim),
        ])
    }

    func parked(_ claim: Claim) throws -> Parked? {
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM parked_transaction WHERE origin = ? AND transaction_id = ?"),
            arguments: [claim.origin.rawValue, claim.transactionIdentifier])
        guard let row else { return nil }
        let record: Data? = row["claim"]
        return (Standing(row), try record.map { try JSONDecoder().decode(Claim.self, from: $0) })
    }

    func takeParked(_ claim: Claim) throws -> Parked? {
        guard let parked = try parked(claim) else { return nil }
        try database.cachedStatement(
            sql: "DELETE FROM parked_transaction WHERE origin = ? AND transaction_id = ?"
        ).execute(arguments: [claim.origin.rawValue, claim.transactionIdentifier])
        return parked
    }

    /// Takes in what was said of other transactions of a purchase before anybody had claimed one of them, such as the renewals
    /// of a subscription.
    func claimParked(original claim: Claim, for user: Int64, at moment: Timestamp) throws {
        let parked = try Data.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT claim FROM parked_transaction INDEXED BY parked_transaction_of_original
                    WHERE origin = ? AND original_transaction_id = ? AND claim IS NOT NULL ORDER BY transaction_id
                    """),
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier])
        for record in parked {
            let sibling = try JSONDecoder().decode(Claim.self, from: record)
            let named = try sibling.appAccountToken.flatMap { try users.owner(of: $0) }
            guard named == nil || named == user, sibling.isKnown else { continue }
            _ = try state(sibling, of: user, at: moment)
        }
    }
}
