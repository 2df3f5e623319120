import Commerce
import Signatures

/// A feature of Till with tables of its own in the ledger.
package struct LedgerFeature: Sendable {
    /// Records something about audit records in the same commit.
    package typealias Follower =
        @Sendable (
            _ records: [(record: AuditRecord, user: Int64)], _ database: any LedgerDatabase, _ randomness: Randomness
        ) throws -> Void

    /// Records something about the users of a write in the same commit. It runs if the feature is in use.
    package typealias WriteFollower =
        @Sendable (_ heads: [Int64: UserHead], _ database: any LedgerDatabase) throws -> Void

    /// A check of rows that no single query can check.
    ///
    /// - Returns: A sentence for each problem; at most `limit`.
    package typealias Check = @Sendable (_ database: any LedgerDatabase, _ limit: Int) throws -> [String]

    /// Each after those that it refers to.
    package let tables: [Table]
    /// The invariants of the rows beyond the constraints of the tables.
    let rules: [LedgerRule]
    let check: Check?
    let follower: Follower?
    let writeFollower: WriteFollower?
    /// A feature in use: a service makes its tables when it starts.
    let isUsed: Bool

    package init(
        tables: [Table],
        rules: [LedgerRule] = [],
        check: Check? = nil,
        follower: Follower? = nil,
        writeFollower: WriteFollower? = nil,
        isUsed: Bool = true
    ) {
        self.tables = tables
        self.rules = rules
        self.check = check
        self.follower = follower
        self.writeFollower = writeFollower
        self.isUsed = isUsed
    }

    /// The same feature, whose tables are made if it is used. Tables that are there are kept, exported and checked in any case.
    package func used(if isUsed: Bool) -> LedgerFeature {
        LedgerFeature(
            tables: tables, rules: rules, check: check, follower: follower, writeFollower: writeFollower, isUsed: isUsed
        )
    }
}

extension [LedgerFeature] {
    /// All tables of a ledger with these features, each after those that it refers to.
    package var tables: [Table] { LedgerSchema(self).tables }
}
