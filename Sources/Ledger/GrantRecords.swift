import Commerce
import GRDB

/// The ledger's statements about what the team gives and takes back, inside a transaction that the caller holds.
struct GrantRecords {
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

    /// Takes a user's transaction back, unless that was done before.
    func revoke(transaction identifier: String, of user: Int64, _ revocation: Revocation) throws {
        try database.cachedStatement(
            sql: """
                UPDATE redeemed_transaction
                SET team_revoked_at = ?, team_revoked_by = ?, team_revocation_reason = ?
                WHERE transaction_id = ? AND user_id = ? AND team_revoked_at IS NULL
                """
        ).execute(arguments: [
            revocation.revokedAt.millisecondsSince1970, revocation.revokedBy, revocation.reason, identifier, user,
        ])
    }

    /// Lets a user's transaction count again.
    func reinstate(transaction identifier: String, of user: Int64) throws {
        try database.cachedStatement(
            sql: """
                UPDATE redeemed_transaction
                SET team_revoked_at = NULL, team_revoked_by = NULL, team_revocation_reason = NULL
                WHERE transaction_id = ? AND user_id = ?
                """
        ).execute(arguments: [identifier, user])
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
    /// - Parameter prefix: What the columns' names begin with.
    init?(_ row: Row, prefix: String = "") {
        guard let revokedAt = row[prefix + "revoked_at"] as Int64?,
            let reason = row[prefix + "revocation_reason"] as String?, let by = row[prefix + "revoked_by"] as String?
        else { return nil }
        self.init(revokedAt: Timestamp(millisecondsSince1970: revokedAt), reason: reason, revokedBy: by)
    }
}
