/// A page of redeemed transactions, newest first.
public struct TransactionList: Codable, Sendable {
    public let transactions: [TransactionResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(transactions: [TransactionResource], nextCursor: String? = nil) {
        self.transactions = transactions
        self.nextCursor = nextCursor
    }
}
