/// The amount of one consumable that a user has.
public struct BalanceResource: Codable, Sendable {
    public let balance: String
    public let amount: Int

    public init(balance: String, amount: Int) {
        self.balance = balance
        self.amount = amount
    }
}
