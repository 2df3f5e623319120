import Commerce
import Ledger

extension WebhookService {
    /// Sends the latest messages about a user again, to all webhooks. Messages that are already waiting stay as they are.
    ///
    /// - Returns: The number of messages, at most `changedAtOnce`.
    public func replay(about user: User) async throws -> Int {
        try await ledger.write { try $0.replayWebhooks(about: user, limit: Self.changedAtOnce) }
    }
}
