import Commerce

/// A part of a user's balance that the team's back end has spent for them.
public struct Spending: Hashable, Sendable {
    public let identifier: String
    public let balance: String
    /// 1 or more.
    public let amount: Int
    /// What for, in the team's own words.
    public let reason: String
    /// Whose API key it was.
    public let spentBy: String
    public let spentAt: Timestamp

    public init(identifier: String, balance: String, amount: Int, reason: String, spentBy: String, spentAt: Timestamp) {
        self.identifier = identifier
        self.balance = balance
        self.amount = amount
        self.reason = reason
        self.spentBy = spentBy
        self.spentAt = spentAt
    }
}
