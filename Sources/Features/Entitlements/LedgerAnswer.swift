import Proofs

/// The results of a user's claims, and the items of the user after them, from the same commit.
package struct LedgerAnswer: Hashable, Sendable {
    /// The results of the claims, in their order.
    package let results: [Redemption.Result]
    package let items: [Item]
}
