import Commerce
import Ledger

extension WebhookService {
    /// The largest number of messages about a user that are sent to each webhook again.
    private static let replayedOfUser = changedAtOnce / maximumEndpoints

    /// Sends the latest messages about a user again, to all webhooks. Messages that are already waiting stay as they are.
    ///
    /// - Returns: The number of messages, at most `changedAtOnce`.
    public func replay(about user: User, by key: String) async throws -> Int {
        try await ledger.write { transaction in
            var total = 0
            for endpoint in try transaction.webhookEndpoints().map(\.identifier) {
                let count = try transaction.replayWebhooks(about: user, to: endpoint, limit: Self.replayedOfUser)
                guard count > 0 else { continue }
                try recording(.messagesReplayed, of: endpoint, by: key, detail: String(count))(transaction)
                total += count
            }
            return total
        }
    }
}
