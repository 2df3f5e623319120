import Commerce

/// A user who has redeemed something, and a transaction by which the App Store knows them.
public struct Customer: Hashable, Sendable {
    /// Grows with every user the ledger has seen.
    public let number: Int64
    public let user: User
    public let transactionIdentifier: String
}
