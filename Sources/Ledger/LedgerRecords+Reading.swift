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
                    WHERE entitlement.user_id = :user AND revocation_date IS NULL
                        AND (expires_at IS NULL OR (purchase_date <= :begun AND max(expires_at, coalesce(grace_ends_at, 0)) > :now
                            AND NOT EXISTS (
                                -- A later period of the same subscription takes the place of an earlier one.
                                SELECT * FROM redeemed_transaction AS later
                                WHERE later.origin = redeemed_transaction.origin AND later.purchase_date <= :begun
                                    AND later.original_transaction_id = redeemed_transaction.original_transaction_id
                                    AND later.purchase_date > redeemed_transaction.purchase_date)))
                        AND NOT EXISTS (
                        SELECT * FROM team_revocation AS taken
                        WHERE taken.origin = redeemed_transaction.origin AND reinstated_at IS NULL
                            AND taken.original_transaction_id = redeemed_transaction.original_transaction_id)
                    UNION
                    SELECT collection, number
                    FROM team_grant
                    WHERE user_id = :user AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > :now)
                    ORDER BY collection, number
                    """),
            arguments: [
                "user": user, "now": moment.millisecondsSince1970,
                // The App Store's clock may be ahead by as much as a proof's date.
                "begun": moment.adding(seconds: 60).millisecondsSince1970,
            ])
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
            details: [
                RedeemedTransaction.Details(
                    expiresAt: (row["expires_at"] as Int64?).map(Timestamp.init(millisecondsSince1970:)),
                    revocation: Revocation(row, reason: "team_reason"))
            ])
    }
}
