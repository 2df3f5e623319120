import Commerce
import GRDB

/// The ledger's statements about what the team gives and takes back, inside a transaction that the caller holds.
struct TeamRecords {
    let database: Database

    func insert(_ grant: Grant, for user: Int64) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO team_grant (
                    grant_id, user_id, collection, number, reason, granted_by, granted_at, ends_at
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            grant.identifier, user, grant.item.collection, grant.item.number, grant.reason, grant.grantedBy,
            grant.grantedAt.millisecondsSince1970, grant.endsAt?.millisecondsSince1970,
        ])
    }

    /// Newest first, older than a sequence number.
    func grants(of user: Int64, before sequence: Int64, limit: Int) throws -> [Grant] {
        try Row.fetchAll(
            database.cachedStatement(
                sql: "SELECT * FROM team_grant WHERE user_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?"),
            arguments: [user, sequence, limit]
        ).map(Self.grant)
    }

    /// - Returns: nil when the user has no such grant.
    func grant(_ identifier: String, of user: Int64) throws -> Grant? {
        try Row.fetchOne(
            database.cachedStatement(sql: "SELECT * FROM team_grant WHERE grant_id = ? AND user_id = ?"),
            arguments: [identifier, user]
        ).map(Self.grant)
    }

    /// Takes a grant back, unless that was done before.
    func revoke(grant identifier: String, _ revocation: Revocation) throws {
        try database.cachedStatement(
            sql: """
                UPDATE team_grant SET revoked_at = ?, revoked_by = ?, revocation_reason = ?
                WHERE grant_id = ? AND revoked_at IS NULL
                """
        ).execute(arguments: [
            revocation.revokedAt.millisecondsSince1970, revocation.revokedBy, revocation.reason, identifier,
        ])
    }

    /// Whether the team has taken back the purchase that a claim is of.
    func isRevoked(_ claim: Claim) throws -> Bool {
        try Bool.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT * FROM team_revocation
                    WHERE origin = ? AND original_transaction_id = ? AND reinstated_at IS NULL)
                    """),
            arguments: [claim.origin.rawValue, claim.originalTransactionIdentifier]) ?? false
    }

    /// Takes back the purchase that a transaction is of, unless that was done before.
    func revoke(_ transaction: RedeemedTransaction, _ revocation: Revocation) throws {
        try database.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO team_revocation (origin, original_transaction_id, reason, revoked_by, revoked_at)
                VALUES (?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            transaction.origin.rawValue, transaction.originalTransactionIdentifier, revocation.reason,
            revocation.revokedBy, revocation.revokedAt.millisecondsSince1970,
        ])
    }

    /// Lets the purchase that a transaction is of count again; who took it back, and why, stays written.
    func reinstate(_ transaction: RedeemedTransaction, by caller: String, at moment: Timestamp) throws {
        try database.cachedStatement(
            sql: """
                UPDATE team_revocation SET reinstated_by = ?, reinstated_at = ?
                WHERE origin = ? AND original_transaction_id = ? AND reinstated_at IS NULL
                """
        ).execute(arguments: [
            caller, moment.millisecondsSince1970, transaction.origin.rawValue,
            transaction.originalTransactionIdentifier,
        ])
    }

    private static func grant(_ row: Row) -> Grant {
        let endsAt: Int64? = row["ends_at"]
        return Grant(
            sequence: row["sequence"], identifier: row["grant_id"],
            item: Item(collection: row["collection"], number: row["number"]), reason: row["reason"],
            grantedBy: row["granted_by"], grantedAt: Timestamp(millisecondsSince1970: row["granted_at"]),
            endsAt: endsAt.map(Timestamp.init(millisecondsSince1970:)), revocation: Revocation(row))
    }
}

extension Revocation {
    /// - Parameter reason: The name of the column with the reason.
    init?(_ row: Row, reason: String = "revocation_reason") {
        guard let revokedAt = row["revoked_at"] as Int64?, let by = row["revoked_by"] as String?,
            let text = row[reason] as String?
        else { return nil }
        self.init(revokedAt: Timestamp(millisecondsSince1970: revokedAt), reason: text, revokedBy: by)
    }
}
