import Ledger
import Proofs

/// The SQL of grants and revocations by the team, inside the caller's transaction.
struct GrantRecords {
    let database: any LedgerDatabase

    func insert(_ grant: Grant, sequence: Int64, for user: Int64) throws {
        try database.insert(
            into: "team_grant",
            [
                "user_id", "sequence", "grant_id", "collection", "number", "reason", "granted_by", "granted_at",
                "ends_at",
            ],
            [
                [
                    user, sequence, grant.identifier, grant.item.collection, grant.item.number, grant.reason,
                    grant.grantedBy, grant.grantedAt, grant.endsAt,
                ]
            ])
    }

    /// The grants older than a sequence number, newest first.
    ///
    /// - Parameter items: The items whose grants are returned; nil for all items.
    func grants(of user: Int64, giving items: [Item]? = nil, before sequence: Int64, limit: Int) throws -> [Grant] {
        let condition = items == nil ? "" : "AND (collection || ' ' || number) \(database.isIn("$3"))"
        return try database.rows(
            """
            SELECT * FROM team_grant WHERE user_id = $1 AND sequence < $2 \(condition)
            ORDER BY sequence DESC LIMIT $\(items == nil ? 3 : 4)
            """,
            [user, sequence] + (items.map { [database.list($0.map(\.description))] } ?? []) + [limit]
        ).map(Self.grant)
    }

    /// The newest grant of an item, revoked or not.
    func lastGrant(of item: Item, to user: Int64) throws -> Grant? {
        try database.row(
            """
            SELECT * FROM team_grant WHERE user_id = $1 AND collection = $2 AND number = $3
            ORDER BY sequence DESC LIMIT 1
            """,
            [user, item.collection, item.number]
        ).map(Self.grant)
    }

    /// - Returns: Nil if the user has no such grant.
    func grant(_ identifier: String, of user: Int64) throws -> Grant? {
        try database.row("SELECT * FROM team_grant WHERE user_id = $1 AND grant_id = $2", [user, identifier])
            .map(Self.grant)
    }

    func revoke(grant identifier: String, of user: Int64, _ revocation: Revocation) throws {
        try database.update(
            "team_grant", set: ["revoked_at", "revoked_by", "revocation_reason"], where: ["user_id", "grant_id"],
            [[revocation.revokedAt, revocation.revokedBy, revocation.reason, user, identifier]])
    }

    static func grant(_ row: SQLRow) throws -> Grant {
        Grant(
            sequence: try row["sequence"], identifier: try row["grant_id"],
            item: Item(collection: try row["collection"], number: try row["number"]), reason: try row["reason"],
            grantedBy: try row["granted_by"], grantedAt: try row["granted_at"], endsAt: try row["ends_at"],
            revocation: try Revocation(row))
    }
}

extension Revocation {
    /// - Parameter reason: The name of the column with the reason.
    /// - Returns: Nil if there is no revocation.
    init?(_ row: SQLRow, reason: String = "revocation_reason") throws {
        guard let revokedAt: Timestamp = try row["revoked_at"] else { return nil }
        self.init(revokedAt: revokedAt, reason: try row[reason], revokedBy: try row["revoked_by"])
    }
}
