import Proofs

/// An amount that the team adds to a user's balance, such as a compensation.
public struct BalanceAddition: Hashable, Sendable {
    public let identifier: String
    public let balance: String
    public let amount: Int
    /// The reason, in the team's own words.
    public let reason: String
    /// The identifier of the API key.
    public let addedBy: String
    public let addedAt: Timestamp
}
