/// The contents and the problems of a ledger.
public struct LedgerReport: Hashable, Sendable {
    /// The number of rows of each table.
    package let rows: [String: Int]
    /// True if the ledger is of this version. Only then were the rules beyond the constraints of the tables checked.
    public let isOfThisVersion: Bool
    /// A sentence for each broken rule; none for a sound ledger.
    public let problems: [String]

    public var users: Int { rows["user"] ?? 0 }
}
