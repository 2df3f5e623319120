/// What a ledger holds, and what is wrong with it.
public struct LedgerReport: Hashable, Sendable, Encodable {
    public let users: Int
    public let redeemedTransactions: Int
    public let grants: Int
    public let notifications: Int
    /// A sentence for each rule that does not hold; none for a ledger that is sound.
    public let problems: [String]
}
