/// A spending from a balance with the remaining amount.
package struct SpendingResource: Codable, Sendable {
    package let spendingId: String
    package let balance: String
    package let amount: Int
    package let left: Int
    package let reason: String
    /// The identifier of the API key.
    package let spentBy: String
    /// The name of the API key; nil if the ledger does not have the key.
    package var spentByName: String?
    /// RFC 3339, UTC.
    let spentAt: String
}
