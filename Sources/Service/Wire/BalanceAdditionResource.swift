/// An amount that the team has added to a balance.
public struct BalanceAdditionResource: Codable, Sendable {
    public let id: String
    public let balance: String
    public let amount: Int
    /// The reason in the team's words.
    public let reason: String
    /// The identifier of the API key.
    public let addedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    public let addedByName: String?
    /// RFC 3339, UTC.
    public let addedAt: String

    public init(
        id: String,
        balance: String,
        amount: Int,
        reason: String,
        addedBy: String,
        addedByName: String? = nil,
        addedAt: String
    ) {
        self.id = id
        self.balance = balance
        self.amount = amount
        self.reason = reason
        self.addedBy = addedBy
        self.addedByName = addedByName
        self.addedAt = addedAt
    }
}
