import Commerce
import Foundation

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

    func parked(_ claim: Claim) throws -> Parked? {
        try database.row(Self.parked(claim)).map { (try Standing($0), try ($0["claim"] as [UInt8]?).map(Self.claim)) }
    }

    private static func parked(_ claim: Claim) -> SQLQuery {
        SQLQuery(
            "SELECT * FROM parked_transaction WHERE origin = $1 AND transaction_id = $2",
            [claim.origin, claim.transactionIdentifier])
    }

    private func siblings(of claim: Claim) -> SQLQuery {
        SQLQuery(
            """
            SELECT claim FROM parked_transaction \(database.indexed(by: "parked_transaction_of_original"))
            WHERE origin = $1 AND original_transaction_id = $2 AND claim IS NOT NULL ORDER BY transaction_id
            """,
            [claim.origin, claim.originalTransactionIdentifier])
    }

    /// What is asked about what waits.
    func questionsOfParked(_ claim: Claim) -> [SQLQuery] {
        [siblings(of: claim), Self.parked(claim)]
    }

    private static func claim(_ record: [UInt8]) throws -> Claim {
        try JSONDecoder().decode(Claim.self, from: Data(record))
    }

    func takeParked(_ claim: Claim) throws -> Parked? {
        guard let parked = try parked(claim) else { return nil }
        try database.write(
            "DELETE FROM parked_transaction WHERE origin = $1 AND transaction_id = $2",
            [claim.origin, claim.transactionIdentifier])
        return parked
    }

    /// What was said of other transactions of a purchase before anybody had claimed one of them, such as the renewals of a
    /// subscription.
    func parkedSiblings(of claim: Claim) throws -> [Claim] {
        try database.rows(siblings(of: claim)).map { try Self.claim(try $0["claim"]) }.filter {
            $0.transactionIdentifier != claim.transactionIdentifier
        }
    }

    /// Takes them in for whoever owns the purchase.
    func take(_ siblings: [Claim], for user: Int64, at moment: Timestamp) throws {
        for sibling in siblings where sibling.isKnown {
            _ = try state(sibling, of: user, by: .appStore, nil, at: moment)
        }
    }
}
