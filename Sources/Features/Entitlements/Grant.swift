import Ledger
import Proofs

/// An item given to a user without a purchase, such as a promotion or an apology.
package struct Grant: Hashable, Sendable {
    /// The number among the user's grants. Newer grants have greater numbers. 0 before the grant is stored.
    package let sequence: Int64
    package let identifier: String
    package let item: Item
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let grantedBy: String
    package let grantedAt: Timestamp
    /// The end of the grant; nil for none.
    package let endsAt: Timestamp?
    /// Nil if the grant is not revoked.
    package var revocation: Revocation? { revocations.first }
    /// At most one element. The array keeps the value small enough for throwing functions to return.
    private let revocations: [Revocation]

    package init(
        sequence: Int64 = 0,
        identifier: String,
        item: Item,
        reason: String,
        grantedBy: String,
        grantedAt: Timestamp,
        endsAt: Timestamp?,
        revocation: Revocation? = nil
    ) {
        self.sequence = sequence
        self.identifier = identifier
        self.item = item
        self.reason = reason
        self.grantedBy = grantedBy
        self.grantedAt = grantedAt
        self.endsAt = endsAt
        revocations = revocation.map { [$0] } ?? []
    }
}

/// A revocation by the team. It is independent of the App Store's revocations.
package struct Revocation: Hashable, Sendable {
    package let revokedAt: Timestamp
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let revokedBy: String

    package init(revokedAt: Timestamp, reason: String, revokedBy: String) {
        self.revokedAt = revokedAt
        self.reason = reason
        self.revokedBy = revokedBy
    }
}

extension Grant {
    /// The grant after a revocation; nil if it was revoked before.
    package func revoked(by revocation: Revocation) -> Grant? {
        guard self.revocation == nil else { return nil }
        return Grant(
            sequence: sequence, identifier: identifier, item: item, reason: reason, grantedBy: grantedBy,
            grantedAt: grantedAt, endsAt: endsAt, revocation: revocation)
    }
}

extension Grant {
    /// The end of the grant or its revocation; nil for no end.
    package var coverageEndsAt: Timestamp? { [endsAt, revocation?.revokedAt].compactMap(\.self).min() }

    /// The names of the usual durations, as RevenueCat's promotional products have them.
    private static let durations: [(name: String, period: String)] = [
        ("daily", "P1D"), ("three_day", "P3D"), ("weekly", "P1W"), ("two_week", "P2W"), ("monthly", "P1M"),
        ("two_month", "P2M"), ("three_month", "P3M"), ("six_month", "P6M"), ("yearly", "P1Y"),
    ]

    /// The name of the granted duration, such as `monthly`. It is `lifetime` without an end, and `custom` if no name fits.
    package var duration: String {
        guard let endsAt else { return "lifetime" }
        let exact = Self.durations.first { duration in
            SubscriptionPeriod(duration.period).map {
                grantedAt.adding($0, dayOfMonth: grantedAt.dayOfMonth).secondsSince1970 == endsAt.secondsSince1970
            } ?? false
        }
        return exact?.name ?? "custom"
    }
}

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

extension GrantRecords {
    /// The newest grants, and every older one with an effect on rights, newest first: of each item the valid grant that lasts
    /// longest.
    ///
    /// - Parameter count: The number of the newest grants.
    func grants(of user: Int64, newest count: Int) throws -> [Grant] {
        let newest = try grants(of: user, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        return newest
            + (try database.rows(
                """
                SELECT * FROM (
                    SELECT team_grant.*, row_number() OVER (
                        PARTITION BY collection, number
                        ORDER BY (CASE WHEN ends_at IS NULL THEN 0 ELSE 1 END), ends_at DESC, sequence DESC) AS place
                    FROM team_grant WHERE user_id = $1 AND sequence < $2 AND revoked_at IS NULL) AS lasting
                WHERE place = 1 ORDER BY sequence DESC
                """,
                [user, oldest.sequence]
            ).map(Self.grant))
    }
}
