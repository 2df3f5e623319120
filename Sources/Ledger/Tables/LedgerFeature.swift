import Commerce
import Signatures

/// A feature of Till with tables of its own in the ledger.
package struct LedgerFeature: Sendable {
    /// Records something about audit records in the same commit.
    package typealias Follower =
        @Sendable (
            _ records: [(record: AuditRecord, user: Int64)], _ database: any LedgerDatabase, _ randomness: Randomness
        ) throws -> Void

    /// Each after those that it refers to.
    package let tables: [Table]
    /// The invariants of the rows beyond the constraints of the tables.
    let rules: [LedgerRule]
    let follower: Follower?
    /// A feature in use: a service makes its tables when it starts.
    let isUsed: Bool

    package init(
        tables: [Table],
        rules: [LedgerRule] = [],
        follower: Follower? = nil,
        isUsed: Bool = true
    ) {
        self.tables = tables
        self.rules = rules
        self.follower = follower
        self.isUsed = isUsed
    }

    /// The same feature, whose tables are made if it is used. Tables that are there are kept, exported and checked in any case.
    package func used(if isUsed: Bool) -> LedgerFeature {
        LedgerFeature(tables: tables, rules: rules, follower: follower, isUsed: isUsed)
    }
}

extension [LedgerFeature] {
    /// All tables of a ledger with these features, each after those that it refers to.
    package var tables: [Table] { LedgerSchema(self).tables }
}
