/// The transactions of the payment queue.
package struct QueueList: Codable, Sendable {
    package let transactions: [QueueResource]
}
