/// The sales to an account.
public struct SaleList: Codable, Sendable {
    public let transactions: [SaleResource]

    public init(transactions: [SaleResource]) {
        self.transactions = transactions
    }
}
