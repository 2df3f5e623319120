/// An amount that the team has added to a balance.
package struct BalanceAdditionResource: Codable, Sendable {
    package let id: String
    package let balance: String
    package let amount: Int
    /// The reason in the team's words.
    package let reason: String
    /// The identifier of the API key.
    package let addedBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    package var addedByName: String?
    /// RFC 3339, UTC.
    package let addedAt: String
}
