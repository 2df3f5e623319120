/// What a ledger holds, and what is wrong with it.
public struct LedgerReport: Hashable, Sendable {
    /// The number of rows of each table.
    package let rows: [String: Int]
    /// Whether it has been taken over from an earlier version, and the rules beyond those of its tables were checked.
    public let isOfThisVersion: Bool
    /// A sentence for each rule that does not hold; none for a ledger that is sound.
    public let problems: [String]

    public var users: Int { rows["user"] ?? 0 }
}
