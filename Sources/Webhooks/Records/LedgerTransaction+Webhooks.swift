import Commerce
import Ledger

extension LedgerTransaction {
    /// - Parameter maximum: How many endpoints there may be.
    /// - Returns: false where there are as many as there may be.
    public func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws -> Bool {
        let webhooks = WebhookRecords(database: database)
        guard try webhooks.endpoints().count < maximum else { return false }
        try webhooks.insert(endpoint)
        return true
    }

    /// Oldest first.
    public func webhookEndpoints() throws -> [WebhookEndpoint] {
        guard try database.has("webhook_endpoint") else { return [] }
        return try WebhookRecords(database: database).endpoints()
    }

    public func webhookEndpoint(_ identifier: String) throws -> WebhookEndpoint? {
        try WebhookRecords(database: database).endpoint(identifier)
    }

    /// Has messages sent to another address, those on their way too.
    ///
    /// - Returns: The endpoint as it is then; nil where there is none.
    public func setURL(
        _ url: String,
        ofWebhookEndpoint identifier: String
    ) throws -> WebhookEndpoint? {
        try database.execute(
            "UPDATE webhook_endpoint SET url = $1 WHERE endpoint_id = $2 AND removed_at IS NULL", [url, identifier])
        return try WebhookRecords(database: database).endpoint(identifier)
    }

    /// Replaces an endpoint's secret, which signs beside the new one until it ends.
    ///
    /// - Returns: false where the endpoint has another secret than `presented` by now, or is gone.
    public func replace(
        _ presented: [UInt8],
        with secret: [UInt8],
        ending moment: Timestamp,
        ofWebhookEndpoint identifier: String
    ) throws -> Bool {
        try database.execute(
            """
            UPDATE webhook_endpoint SET secret = $1, previous_secret = $2, previous_secret_ends_at = $3
            WHERE endpoint_id = $4 AND secret = $2
            """,
            [secret, presented, moment, identifier]) == 1
    }

    /// Ends an endpoint, and whatever is on its way to it, which `forgetWebhooks` takes out.
    ///
    /// - Returns: false where there is none.
    public func removeWebhookEndpoint(
        _ identifier: String,
        at moment: Timestamp
    ) throws -> Bool {
        try WebhookRecords(database: database).remove(identifier, at: moment)
    }

    /// What was and is on its way to an endpoint, newest first.
    ///
    /// - Parameters:
    ///   - state: nil for all.
    ///   - position: Only those before; nil for all.
    public func webhookDeliveries(
        to identifier: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) throws -> [WebhookDelivery] {
        try WebhookRecords(database: database).deliveries(to: identifier, in: state, before: position, limit: limit)
    }

    /// Has a message sent anew, whatever has become of it.
    ///
    /// - Returns: What it is then; nil where there is none.
    public func replay(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        let webhooks = WebhookRecords(database: database)
        guard try webhooks.replay(message, to: endpoint) else { return nil }
        return try webhooks.delivery(message, to: endpoint)
    }

    /// Has messages sent anew that have failed, the oldest first.
    ///
    /// - Returns: How many; `limit` where there may be more.
    public func replayFailed(to endpoint: String, limit: Int) throws -> Int {
        try WebhookRecords(database: database).replayFailed(to: endpoint, limit: limit)
    }

    /// Endpoints for which something is due.
    public func dueWebhookEndpoints(at moment: Timestamp) throws -> [WebhookEndpoint] {
        try WebhookRecords(database: database).dueEndpoints(at: moment)
    }

    /// What is due for an endpoint, what was never tried first.
    public func dueWebhooks(
        to endpoint: String,
        at moment: Timestamp,
        limit: Int
    ) throws -> [WebhookDelivery] {
        try WebhookRecords(database: database).due(to: endpoint, at: moment, limit: limit)
    }

    /// Takes what was due, so that nobody else sends it until `end`; whoever has taken it and is gone by then has tried it.
    ///
    /// - Returns: As they are then, without those that somebody else has taken meanwhile.
    public func take(
        _ deliveries: [WebhookDelivery],
        at moment: Timestamp,
        until end: Timestamp
    ) throws -> [WebhookDelivery] {
        let webhooks = WebhookRecords(database: database)
        return try deliveries.compactMap { try webhooks.take($0, at: moment, until: end) }
    }

    /// Remembers how attempts have ended; one that somebody else has taken meanwhile stays as it is.
    public func record(_ results: [WebhookResult]) throws {
        let webhooks = WebhookRecords(database: database)
        for result in results { try webhooks.record(result) }
    }

    /// Forgets messages that have arrived and tell of what happened before a moment, and those to endpoints that are removed.
    ///
    /// - Returns: How many; `limit` where there may be more.
    public func forgetWebhooks(before moment: Timestamp, limit: Int) throws -> Int {
        try WebhookRecords(database: database).forget(before: moment, limit: limit)
    }
}
