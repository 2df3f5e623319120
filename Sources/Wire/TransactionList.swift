/// A page of redeemed transactions, newest first.
public struct TransactionList: Codable, Sendable {
    public let transactions: [TransactionResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(transactions: [TransactionResource], nextCursor: String? = nil) {
        self.transactions = transactions
        self.nextCursor = nextCursor
    }
}
