import Commerce

/// The ledger's statements about what the team gives and takes back, inside a transaction that the caller holds.
struct TeamRecords {
    let database: any LedgerDatabase

    func insert(_ grant: Grant, for user: Int64) throws {
        try database.execute(
            """
            INSERT INTO team_grant (
                grant_id, user_id, collection, number, reason, granted_by, granted_at, ends_at, sequence
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8,
                (SELECT coalesce(max(sequence), 0) + 1 FROM team_grant WHERE user_id = $2))
            """,
            [
                grant.identifier, user, grant.item.collection, grant.item.number, grant.reason, grant.grantedBy,
                grant.grantedAt, grant.endsAt,
            ])
    }

    /// Newest first, older than a sequence number.
    func grants(of user: Int64, before sequence: Int64, limit: Int) throws -> [Grant] {
        try database.rows(
            "SELECT * FROM team_grant WHERE user_id = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3",
            [user, sequence, limit]
        ).map(Self.grant)
    }

    /// - Returns: nil when the user has no such grant.
    func grant(_ identifier: String, of user: Int64) throws -> Grant? {
        try database.row("SELECT * FROM team_grant WHERE grant_id = $1 AND user_id = $2", [identifier, user])
            .map(Self.grant)
    }

    /// Takes a grant back.
    ///
    /// - Returns: false where that was done before.
    func revoke(grant identifier: String, _ revocation: Revocation) throws -> Bool {
        try database.execute(
            """
            UPDATE team_grant SET revoked_at = $1, revoked_by = $2, revocation_reason = $3
            WHERE grant_id = $4 AND revoked_at IS NULL
            """,
            [revocation.revokedAt, revocation.revokedBy, revocation.reason, identifier]) == 1
    }

    /// - Returns: false where that was done before.
    func apply(_ change: PurchaseChange, to transaction: RedeemedTransaction) throws -> Bool {
        switch change {
        case .revoke(let revocation): try revoke(transaction, revocation)
        case .reinstate(let caller, let moment): try reinstate(transaction, by: caller, at: moment)
        }
    }

    /// Takes back the purchase that a transaction is of.
    private func revoke(_ transaction: RedeemedTransaction, _ revocation: Revocation) throws -> Bool {
        try database.execute(
            """
            INSERT INTO team_revocation (origin, original_transaction_id, reason, revoked_by, revoked_at, sequence)
            VALUES ($1, $2, $3, $4, $5, (
                SELECT coalesce(max(sequence), 0) + 1 FROM team_revocation
                WHERE origin = $1 AND original_transaction_id = $2)) ON CONFLICT DO NOTHING
            """,
            [
                transaction.origin, transaction.originalTransactionIdentifier, revocation.reason,
                revocation.revokedBy, revocation.revokedAt,
            ]) == 1
    }

    /// Lets the purchase that a transaction is of count again; who took it back, and why, stays written.
    private func reinstate(_ transaction: RedeemedTransaction, by caller: String, at moment: Timestamp) throws -> Bool {
        try database.execute(
            """
            UPDATE team_revocation SET reinstated_by = $1, reinstated_at = $2
            WHERE origin = $3 AND original_transaction_id = $4 AND reinstated_at IS NULL
            """,
            [caller, moment, transaction.origin, transaction.originalTransactionIdentifier]) == 1
    }

    private static func grant(_ row: SQLRow) throws -> Grant {
        Grant(
            sequence: try row["sequence"], identifier: try row["grant_id"],
            item: Item(collection: try row["collection"], number: try row["number"]), reason: try row["reason"],
            grantedBy: try row["granted_by"], grantedAt: try row["granted_at"], endsAt: try row["ends_at"],
            revocation: try Revocation(row))
    }
}

extension Revocation {
    /// - Parameter reason: The name of the column with the reason.
    /// - Returns: nil where nothing was taken back.
    init?(_ row: SQLRow, reason: String = "revocation_reason") throws {
        guard let revokedAt: Timestamp = try row["revoked_at"] else { return nil }
        self.init(revokedAt: revokedAt, reason: try row[reason], revokedBy: try row["revoked_by"])
    }
}
