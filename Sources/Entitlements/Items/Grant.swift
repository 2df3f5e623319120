import Catalog
import Foundation
import Ledger
import Proofs
import Vocabulary

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
    private var revocations: [Revocation]

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
        var grant = self
        grant.revocations = [revocation]
        return grant
    }

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

extension EntitlementService {
    /// A new grant of an item. It is not stored yet.
    ///
    /// - Parameters:
    ///   - endsAt: The end of the grant; nil for none.
    ///   - caller: The identifier of the API key.
    package func newGrant(
        of item: Item,
        reason: String,
        endsAt: Timestamp?,
        by caller: String
    ) throws(GrantError) -> Grant {
        let now = clock.now()
        guard limit?.sees(item) ?? catalogs.grants(item) else { throw .itemUnknown(item) }
        guard endsAt.map({ $0 > now }) ?? true else { throw .endPassed }
        return Grant(
            identifier: UUID(randomness: randomness).lowercasedString, item: item, reason: reason, grantedBy: caller,
            grantedAt: now, endsAt: endsAt)
    }

    /// Gives a new grant to a user, and stores the answer to the caller in the same commit. A retry under the same key grants
    /// nothing more.
    ///
    /// - Returns: The answer that another process has stored under the key; nil if the grant was given.
    package func give(
        _ grant: Grant,
        to user: User,
        keeping answer: KeptAnswer? = nil
    ) async throws -> KeptAnswer? {
        try limit?.check(grant.item)
        return try await ledger.write { try $0.add(grant, for: user, keeping: answer) }
    }

    /// A user's grants, newest first, paged like `transactions`.
    package func grants(of user: User, before sequence: Int64?, limit: Int) async throws -> [Grant] {
        let items = self.limit?.items
        return try await ledger.read { try $0.grants(of: user, giving: items, before: sequence, limit: limit) }
    }

    /// Revokes a grant. A second revocation changes nothing.
    package func revoke(
        grant identifier: String,
        of user: User,
        reason: String,
        by caller: String
    ) async throws -> Grant {
        let (limit, revocation) = (limit, Revocation(revokedAt: clock.now(), reason: reason, revokedBy: caller))
        let revoked = try await ledger.write {
            try $0.revoke(grant: identifier, of: user, revocation, seeing: limit)
        }
        guard let revoked else { throw GrantError.grantNotFound }
        return revoked
    }
}

extension LedgerTransaction {
    /// Grants an item without a purchase, and stores the answer to the caller in the same commit. Grants nothing if another
    /// process has stored an answer under the same key.
    ///
    /// - Returns: The answer that another process has stored; nil if the item was granted.
    package func add(
        _ grant: Grant,
        for user: User,
        keeping answer: KeptAnswer? = nil
    ) throws -> KeptAnswer? {
        let user = try number(of: user, at: grant.grantedAt)
        if let kept = try earlierAnswer(orKeeping: answer, about: user, at: grant.grantedAt) { return kept }
        try add(grant, to: user)
        return nil
    }

    func add(_ grant: Grant, to user: Int64) throws {
        var heads = try users.heads(of: [user])
        let sequence = (heads[user]?.lastGrant ?? 0) + 1
        heads[user]?.lastGrant = sequence
        try database.insert(
            into: "team_grant", ["user_id"] + Grant.newColumns,
            [
                [
                    user, sequence, grant.identifier, grant.item.collection, grant.item.number, grant.reason,
                    grant.grantedBy, grant.grantedAt, grant.endsAt,
                ]
            ])
        let entry = AuditEntry(
            by: grant.grantedBy, .itemGiven, grant.identifier, grant.item.description, grant.endsAt.map { .end($0) },
            reason: grant.reason, at: grant.grantedAt)
        try record(entry, of: user, &heads)
    }

    /// Revokes a grant. A second revocation changes nothing.
    ///
    /// - Parameter limit: The limit of the caller; nil for a caller of all apps.
    /// - Returns: The grant; nil if the user has none of that identifier, or the caller does not see it.
    package func revoke(
        grant identifier: String,
        of user: User,
        _ revocation: Revocation,
        seeing limit: AppLimit? = nil
    ) throws -> Grant? {
        guard let user = try users.known(user), let grant = try grant(identifier, of: user),
            limit?.sees(grant.item) ?? true
        else { return nil }
        try limit?.check(grant.item)
        guard let revoked = grant.revoked(by: revocation) else { return grant }
        try database.update(
            "team_grant", set: ["revoked_at", "revoked_by", "revocation_reason"], where: ["user_id", "grant_id"],
            [[revocation.revokedAt, revocation.revokedBy, revocation.reason, user, identifier]])
        try audit.append(
            AuditEntry(
                by: revocation.revokedBy, .itemTakenBack, grant.identifier, grant.item.description,
                reason: revocation.reason, at: revocation.revokedAt),
            to: user)
        return revoked
    }

    /// Appends an entry to a user's audit log, and writes the user's head.
    func record(_ entry: AuditEntry, of user: Int64, _ heads: inout [Int64: UserHead]) throws {
        try audit.append([(entry, user)], to: &heads)
        try users.write(heads)
    }

    /// Stores an answer under its key for a day.
    ///
    /// - Returns: The answer that another process has stored; nil if this one is stored, or there is none.
    func earlierAnswer(
        orKeeping answer: KeptAnswer?,
        about user: Int64,
        at moment: Timestamp
    ) throws -> KeptAnswer? {
        guard let answer else { return nil }
        return try earlierAnswer(
            orKeeping: answer, about: user, at: moment, deletingBefore: moment.adding(days: -1))
    }
}

extension AuditEntry {
    /// - Parameter caller: The identifier of the API key.
    init(
        by caller: String, _ event: Event, _ reference: String, _ subject: String, _ measure: Measure? = nil,
        reason: String, at moment: Timestamp
    ) {
        self.init(
            happenedAt: moment, event: event, actor: AuditActor(caller: caller), origin: nil, reference: reference,
            subject: subject, reason: reason, measure: measure)
    }
}

extension Grant {
    fileprivate static let newColumns = [
        "sequence", "grant_id", "collection", "number", "reason", "granted_by", "granted_at", "ends_at",
    ]
    fileprivate static let columns = (newColumns + ["revoked_at", "revocation_reason", "revoked_by"])
        .joined(separator: ", ")

    /// The grant in the next columns, which are `columns`.
    fileprivate init(_ row: inout ResultRow) throws {
        self.init(
            sequence: try row.next(), identifier: try row.next(), item: try Item(&row), reason: try row.next(),
            grantedBy: try row.next(), grantedAt: try row.next(), endsAt: try row.next(),
            revocation: try Revocation(&row))
    }
}

/// The queries for the grants of a user.
extension LedgerTransaction {
    /// A user's grants, newest first, paged like `transactions`.
    ///
    /// - Parameter items: The items whose grants are returned; nil for all items.
    package func grants(
        of user: User,
        giving items: [Item]? = nil,
        before sequence: Int64?,
        limit: Int
    ) throws -> [Grant] {
        guard let user = try users.known(user) else { return [] }
        return try grants(of: user, giving: items, before: sequence ?? .max, limit: limit)
    }

    private func grants(of user: Int64, giving items: [Item]?, before sequence: Int64, limit: Int) throws -> [Grant] {
        let condition = items == nil ? "" : "AND (collection || ' ' || number) \(database.isIn("$3"))"
        return try grants(
            """
            team_grant WHERE user_id = $1 AND sequence < $2 \(condition)
            ORDER BY sequence DESC LIMIT $\(items == nil ? 3 : 4)
            """,
            [user, sequence] + (items.map { [database.list($0.map(\.description))] } ?? []) + [limit])
    }

    /// The newest grants, and every older one with an effect on rights, newest first: of each item the valid grant that lasts
    /// longest.
    func grants(of user: Int64, newest count: Int) throws -> [Grant] {
        let newest = try grants(of: user, giving: nil, before: .max, limit: count)
        guard newest.count == count, let oldest = newest.last else { return newest }
        return newest
            + (try grants(
                """
                (
                    SELECT \(Grant.columns), row_number() OVER (
                        PARTITION BY collection, number
                        ORDER BY (CASE WHEN ends_at IS NULL THEN 0 ELSE 1 END), ends_at DESC, sequence DESC) AS place
                    FROM team_grant WHERE user_id = $1 AND sequence < $2 AND revoked_at IS NULL) AS lasting
                WHERE place = 1 ORDER BY sequence DESC
                """,
                [user, oldest.sequence]))
    }

    /// The newest grant of an item, revoked or not.
    func lastGrant(of item: Item, to user: Int64) throws -> Grant? {
        try grants(
            """
            team_grant WHERE user_id = $1 AND collection = $2 AND number = $3 ORDER BY sequence DESC LIMIT 1
            """,
            [user, item.collection, item.number]
        ).first
    }

    /// - Returns: Nil if the user has no such grant.
    package func grant(_ identifier: String, of user: Int64) throws -> Grant? {
        try grants("team_grant WHERE user_id = $1 AND grant_id = $2", [user, SQLValue.packed(identifier)]).first
    }

    /// - Parameter source: The SQL after `FROM`.
    private func grants(_ source: String, _ arguments: [any SQLConvertible]) throws -> [Grant] {
        try database.rows("SELECT \(Grant.columns) FROM \(source)", arguments, Grant.init)
    }
}

extension Table {
    /// A grant. Grants are numbered per user, and revocations per purchase, so that users do not wait for each other.
    static let teamGrant = Table(
        name: "team_grant", family: .userData,
        columns: [
            .integer("user_id"), .integer("sequence", check: "sequence > 0"), .packed("grant_id"), .text("collection"),
            .integer("number", check: "number >= 0"), .text("reason", check: "reason <> ''"), .text("granted_by"),
            .integer("granted_at"), .integer("ends_at", check: "ends_at > granted_at").optional,
            .integer("revoked_at").optional, .text("revoked_by").optional, .text("revocation_reason").optional,
        ],
        key: ["user_id", "sequence"], unique: [["user_id", "grant_id"]],
        checks: ["(revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)"],
        erasure: .update(
            """
            reason = 'erased',
                revocation_reason = CASE WHEN revocation_reason IS NULL THEN NULL ELSE 'erased' END
            """), merge: .byRule)
}
