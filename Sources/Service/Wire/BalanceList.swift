/// The balances of a user.
public struct BalanceList: Codable, Sendable {
    public let balances: [BalanceResource]

    public init(balances: [BalanceResource]) {
        self.balances = balances
    }
}
