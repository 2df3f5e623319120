import Proofs

/// The results of a user's claims, and the items of the user after them, from the same commit.
public struct LedgerAnswer: Hashable, Sendable {
    /// The results of the claims, in their order.
    public let results: [Redemption.Result]
    public let items: [Item]
}
