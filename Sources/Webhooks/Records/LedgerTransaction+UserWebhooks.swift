import Commerce
import Ledger

extension LedgerTransaction {
    /// Marks the latest delivered and failed messages about a user as pending again.
    ///
    /// - Returns: The number of messages.
    public func replayWebhooks(about user: User, limit: Int) throws -> Int {
        guard try database.has("webhook_delivery"), let user = try users.known(user) else { return 0 }
        return try WebhookRecords(database: database).replay(aboutUser: user, limit: limit)
    }
}
