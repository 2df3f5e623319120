import Commerce
import GRDB

/// What users own and have redeemed.
extension LedgerRecords {
    func items(of user: Int64, at moment: Timestamp) throws -> [Item] {
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT collection, number
                    FROM entitlement JOIN redeemed_transaction USING (origin, transaction_id)
                    WHERE entitlement.user_id = ? AND revocation_date IS NULL AND NOT EXISTS (
                        SELECT * FROM team_revocation AS taken
                        WHERE taken.origin = redeemed_transaction.origin AND reinstated_at IS NULL
                            AND taken.original_transaction_id = redeemed_transaction.original_transaction_id)
                    UNION
                    SELECT collection, number
                    FROM team_grant
                    WHERE user_id = ? AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > ?)
                    ORDER BY collection, number
                    """),
            arguments: [user, user, moment.millisecondsSince1970])
        return rows.map { Item(collection: $0["collection"], number: $0["number"]) }
    }

    /// Newest first, older than a sequence number.
    func transactions(of user: Int64, before sequence: Int64, limit: Int) throws -> [RedeemedTransaction] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    \(Self.transactions) WHERE redeemed_transaction.user_id = ? AND redeemed_transaction.sequence < ?
                    ORDER BY redeemed_transaction.sequence DESC LIMIT ?
                    """),
            arguments: [user, sequence, limit]
        ).compactMap(Self.transaction)
    }

    /// Those of an identifier that a user has redeemed; more than one where two origins use the same.
    func transactions(_ identifier: String, of user: Int64) throws -> [RedeemedTransaction] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "\(Self.transactions) WHERE transaction_id = ? AND redeemed_transaction.user_id = ?"),
            arguments: [identifier, user]
        ).compactMap(Self.transaction)
    }

    /// With what the team has taken back, as far as it stands.
    private static let transactions = """
        SELECT redeemed_transaction.*, revoked_at, revoked_by, reason AS team_reason
        FROM redeemed_transaction LEFT JOIN team_revocation
        ON team_revocation.origin = redeemed_transaction.origin AND reinstated_at IS NULL
            AND team_revocation.original_transaction_id = redeemed_transaction.original_transaction_id
        """

    private static func transaction(_ row: Row) -> RedeemedTransaction? {
        let origin: String = row["origin"]
        // Only origins of ours are ever written.
        guard let origin = Origin(rawValue: origin) else { return nil }
        let revocationDate: Int64? = row["revocation_date"]
        return RedeemedTransaction(
            sequence: row["sequence"], origin: origin, transactionIdentifier: row["transaction_id"],
            originalTransactionIdentifier: row["original_transaction_id"], productIdentifier: row["product_id"],
            quantity: row["quantity"], purchaseDate: Timestamp(millisecondsSince1970: row["purchase_date"]),
            redeemedAt: Timestamp(millisecondsSince1970: row["redeemed_at"]),
            revocationDate: revocationDate.map(Timestamp.init(millisecondsSince1970:)),
            revocationReason: row["revocation_reason"],
            revocations: Revocation(row, reason: "team_reason").map { [$0] } ?? [])
    }
}
