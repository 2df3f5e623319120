import Commerce

/// What became of a user's claims, and what the user owns after them, read in the same commit.
public struct LedgerAnswer: Hashable, Sendable {
    /// One for each claim, in their order.
    public let results: [Redemption.Result]
    public let items: [Item]
}
