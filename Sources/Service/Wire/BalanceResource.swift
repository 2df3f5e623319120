/// The amount of one consumable that a user has.
package struct BalanceResource: Codable, Sendable {
    package let balance: String
    package let amount: Int
}
