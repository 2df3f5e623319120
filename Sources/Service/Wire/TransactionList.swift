/// A page of redeemed transactions, newest first.
package struct TransactionList: Codable, Sendable {
    package let transactions: [TransactionResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
