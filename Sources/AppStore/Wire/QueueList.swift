/// The transactions of the payment queue.
public struct QueueList: Codable, Sendable {
    public let transactions: [QueueResource]

    public init(transactions: [QueueResource]) {
        self.transactions = transactions
    }
}
