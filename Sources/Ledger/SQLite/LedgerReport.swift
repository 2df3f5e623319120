/// The contents and the problems of a ledger.
package struct LedgerReport: Hashable, Sendable {
    /// The number of rows of each table.
    package let rows: [String: Int]
    /// A sentence for each broken rule; none for a sound ledger.
    package let problems: [String]

    package var users: Int { rows["user"] ?? 0 }
}
