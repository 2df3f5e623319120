import Proofs

/// A feature of Till with its own tables in the ledger.
package struct LedgerFeature: Sendable {
    /// A function that writes rows about new audit records, in the same commit.
    package typealias AuditHook =
        @Sendable (
            _ records: [(record: AuditRecord, user: Int64)], _ database: any LedgerDatabase, _ randomness: Randomness
        ) throws -> Void

    /// A function that writes rows about the users of a write, in the same commit. It runs if the feature is in use.
    package typealias WriteHook =
        @Sendable (_ heads: [Int64: UserHead], _ database: any LedgerDatabase) throws -> Void

    /// A function that moves the feature's rows of a user to another user by rules of its own, in the commit of a merge.
    package typealias MergeHook =
        @Sendable (_ former: Int64, _ user: Int64, _ database: any LedgerDatabase) throws -> Void

    /// A check of rows that no single query can check.
    ///
    /// - Returns: A sentence for each problem; at most `limit`.
    package typealias Check = @Sendable (_ database: any LedgerDatabase, _ limit: Int) throws -> [String]

    /// The tables of the feature, each after the tables that it refers to.
    package let tables: [Table]
    /// The invariants of the rows beyond the constraints of the tables.
    let rules: [LedgerRule]
    let check: Check?
    let auditHook: AuditHook?
    let writeHook: WriteHook?
    let mergeHook: MergeHook?
    /// True if the feature is in use. A service creates its tables when it starts.
    private(set) var isUsed = true

    package init(
        tables: [Table],
        rules: [LedgerRule] = [],
        check: Check? = nil,
        auditHook: AuditHook? = nil,
        writeHook: WriteHook? = nil,
        mergeHook: MergeHook? = nil
    ) {
        self.tables = tables
        self.rules = rules
        self.check = check
        self.auditHook = auditHook
        self.writeHook = writeHook
        self.mergeHook = mergeHook
    }

    /// The same feature, marked as in use or not. The ledger keeps, exports and checks existing tables in both cases.
    package func used(if isUsed: Bool) -> LedgerFeature {
        var feature = self
        feature.isUsed = isUsed
        return feature
    }
}

extension LedgerFeature: Equatable {
    /// A table belongs to one feature.
    package static func == (left: LedgerFeature, right: LedgerFeature) -> Bool {
        left.tables.map(\.name) == right.tables.map(\.name)
    }
}

extension [LedgerFeature] {
    /// All tables of a ledger with these features, each after the tables that it refers to.
    package var tables: [Table] { LedgerSchema(self).tables }
}

extension LedgerFeature {
    /// The users, their audit logs and the callers.
    static let users = LedgerFeature(
        tables: Table.users + Table.audit + Table.callers,
        rules: [
            (
                "A user's last numbers differ from those of the records",
                """
                SELECT name FROM "user" LEFT JOIN audit ON audit.user_id = "user".user_id AND number = audit_number
                WHERE audit_number <> (SELECT coalesce(max(number), 0) FROM audit AS each
                        WHERE each.user_id = "user".user_id)
                    OR audit_number > 0 AND (digest IS NULL OR digest <> audit_digest)
                """
            ),
            (
                "An account token is not a UUID in lowercase",
                """
                SELECT name FROM "user" WHERE app_account_token NOT LIKE '________-____-____-____-____________'
                    OR app_account_token <> lower(app_account_token)
                """
            ),
        ])
}

/// A rule of the ledger that the constraints of its tables do not enforce: the description of a row that breaks it, and a query
/// for such rows. The query's first column names a row.
///
/// A distributed database joins tables of one family only. A rule of two families compares them with `EXCEPT`.
package typealias LedgerRule = (sentence: String, violations: String)
