import Ledger
import Proofs

extension WebhookService {
    /// Sends the latest messages about a user again, to all webhooks. Messages that are already waiting stay as they are.
    ///
    /// - Returns: The number of messages, at most `changedAtOnce`.
    package func replay(about user: User, by key: String) async throws -> Int {
        try await ledger.write { transaction in
            var total = 0
            let endpoints = try transaction.webhookEndpoints().map(\.identifier)
            let limit = Self.changedAtOnce / max(endpoints.count, Self.maximumEndpoints)
            for endpoint in endpoints {
                let count = try transaction.replayWebhooks(about: user, to: endpoint, limit: limit)
                guard count > 0 else { continue }
                try recording(.messagesReplayed, of: endpoint, by: key, detail: String(count))(transaction)
                total += count
            }
            return total
        }
    }
}
