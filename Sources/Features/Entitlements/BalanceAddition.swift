import Proofs

/// An amount that the team adds to a user's balance, such as a compensation.
package struct BalanceAddition: Hashable, Sendable {
    package let identifier: String
    package let balance: String
    package let amount: Int
    /// The reason, in the team's own words.
    package let reason: String
    /// The identifier of the API key.
    package let addedBy: String
    package let addedAt: Timestamp
}
