/// A spending from a balance with the remaining amount.
public struct SpendingResource: Codable, Sendable {
    public let spendingId: String
    public let balance: String
    public let amount: Int
    public let left: Int
    public let reason: String
    /// The identifier of the API key.
    public let spentBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let spentByName: String?
    /// RFC 3339, UTC.
    public let spentAt: String

    public init(
        spendingId: String,
        balance: String,
        amount: Int,
        left: Int,
        reason: String,
        spentBy: String,
        spentByName: String? = nil,
        spentAt: String
    ) {
        self.spendingId = spendingId
        self.balance = balance
        self.amount = amount
        self.left = left
        self.reason = reason
        self.spentBy = spentBy
        self.spentByName = spentByName
        self.spentAt = spentAt
    }
}
