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
    let isUsed: Bool

    package init(
        tables: [Table],
        rules: [LedgerRule] = [],
        check: Check? = nil,
        auditHook: AuditHook? = nil,
        writeHook: WriteHook? = nil,
        mergeHook: MergeHook? = nil,
        isUsed: Bool = true
    ) {
        self.tables = tables
        self.rules = rules
        self.check = check
        self.auditHook = auditHook
        self.writeHook = writeHook
        self.mergeHook = mergeHook
        self.isUsed = isUsed
    }

    /// The same feature, marked as in use or not. The ledger keeps, exports and checks existing tables in both cases.
    package func used(if isUsed: Bool) -> LedgerFeature {
        LedgerFeature(
            tables: tables, rules: rules, check: check, auditHook: auditHook, writeHook: writeHook,
            mergeHook: mergeHook, isUsed: isUsed)
    }
}

extension [LedgerFeature] {
    /// All tables of a ledger with these features, each after the tables that it refers to.
    package var tables: [Table] { LedgerSchema(self).tables }
}
