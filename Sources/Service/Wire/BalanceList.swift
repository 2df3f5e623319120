/// The balances of a user.
package struct BalanceList: Codable, Sendable {
    package let balances: [BalanceResource]
}
