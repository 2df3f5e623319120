import Ledger
import Proofs

extension LedgerTransaction {
    /// Adds an endpoint.
    ///
    /// - Parameter maximum: The largest number of endpoints of an app, and of those for all apps.
    /// - Returns: False if there are already so many.
    package func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws -> Bool {
        let webhooks = WebhookRecords(database: database)
        let count = try webhooks.endpoints().count { $0.app.map { ByteKey($0) } == endpoint.app.map { ByteKey($0) } }
        guard count < maximum else { return false }
        try webhooks.insert(endpoint)
        return true
    }

    /// All endpoints, oldest first.
    package func webhookEndpoints() throws -> [WebhookEndpoint] {
        guard try database.has("webhook_endpoint") else { return [] }
        return try WebhookRecords(database: database).endpoints()
    }

    package func webhookEndpoint(_ identifier: String) throws -> WebhookEndpoint? {
        try WebhookRecords(database: database).endpoint(identifier)
    }

    /// Sets the URL of an endpoint, also for pending deliveries.
    ///
    /// - Returns: The changed endpoint; nil if there is none.
    package func setURL(_ url: String, ofWebhookEndpoint identifier: String) throws -> WebhookEndpoint? {
        try database.execute(
            "UPDATE webhook_endpoint SET url = $1 WHERE endpoint_id = $2 AND removed_at IS NULL", [url, identifier])
        return try WebhookRecords(database: database).endpoint(identifier)
    }

    /// Sets the authorization of an endpoint, also for pending deliveries.
    ///
    /// - Parameter authorization: Nil for none.
    /// - Returns: The changed endpoint; nil if there is none.
    package func setAuthorization(
        _ authorization: WebhookAuthorization?,
        ofWebhookEndpoint identifier: String
    ) throws -> WebhookEndpoint? {
        try database.execute(
            "UPDATE webhook_endpoint SET authorization_value = $1 WHERE endpoint_id = $2 AND removed_at IS NULL",
            [authorization?.value, identifier])
        return try WebhookRecords(database: database).endpoint(identifier)
    }

    /// Replaces an endpoint's secret. The previous one also signs messages until it ends.
    ///
    /// - Returns: False if the endpoint has another secret than `presented`, or does not exist.
    package func replace(
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

    /// Removes an endpoint. Its deliveries end, and `deleteWebhookMessages` deletes them.
    ///
    /// - Returns: False if there is no such endpoint.
    package func removeWebhookEndpoint(_ identifier: String, at moment: Timestamp) throws -> Bool {
        try WebhookRecords(database: database).remove(identifier, at: moment)
    }

    /// The deliveries to an endpoint, newest first.
    ///
    /// - Parameters:
    ///   - state: The state of the deliveries; nil for all states.
    ///   - position: The end of the previous page; nil for the first page.
    package func webhookDeliveries(
        to identifier: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) throws -> [WebhookDelivery] {
        try WebhookRecords(database: database).deliveries(to: identifier, in: state, before: position, limit: limit)
    }

    /// Marks a message as pending again, in any state.
    ///
    /// - Returns: The changed delivery; nil if there is none.
    package func replay(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        let webhooks = WebhookRecords(database: database)
        guard try webhooks.replay(message, to: endpoint) else { return nil }
        return try webhooks.delivery(message, to: endpoint)
    }

    /// The delivery of a message to an endpoint; nil if there is none.
    package func webhookDelivery(_ message: String, to endpoint: String) throws -> WebhookDelivery? {
        try WebhookRecords(database: database).delivery(message, to: endpoint)
    }

    /// The attempts of a delivery, newest first.
    package func attempts(of delivery: WebhookDelivery, limit: Int) throws -> [WebhookDelivery.Attempt] {
        try WebhookRecords(database: database).attempts(of: delivery, limit: limit)
    }

    /// Marks the delivered and the failed messages of a period as pending again, oldest first.
    ///
    /// - Parameters:
    ///   - position: The position after which the messages begin.
    ///   - end: The first moment after the period.
    /// - Returns: The positions of the messages; `limit` if there may be more.
    package func replay(
        to endpoint: String,
        after position: WebhookDeliveryPosition,
        until end: Timestamp,
        limit: Int
    ) throws -> [WebhookDeliveryPosition] {
        try WebhookRecords(database: database).replay(to: endpoint, after: position, until: end, limit: limit)
    }

    /// Marks failed messages as pending again, oldest first.
    ///
    /// - Returns: The number of messages; `limit` if there may be more.
    package func replayFailed(to endpoint: String, limit: Int) throws -> Int {
        try WebhookRecords(database: database).replayFailed(to: endpoint, limit: limit)
    }

    /// The endpoints with due deliveries.
    package func dueWebhookEndpoints(at moment: Timestamp) throws -> [WebhookEndpoint] {
        try WebhookRecords(database: database).dueEndpoints(at: moment)
    }

    /// The due deliveries to an endpoint, those without an attempt first.
    package func dueWebhooks(to endpoint: String, at moment: Timestamp, limit: Int) throws -> [WebhookDelivery] {
        try WebhookRecords(database: database).due(to: endpoint, at: moment, limit: limit)
    }

    /// Leases due deliveries until `end`, so that no other service sends them. A lease counts as an attempt, even if the
    /// service stops during it.
    ///
    /// - Returns: The leased deliveries, without those that another service leased meanwhile.
    package func lease(
        _ deliveries: [WebhookDelivery],
        at moment: Timestamp,
        until end: Timestamp
    ) throws -> [WebhookDelivery] {
        let webhooks = WebhookRecords(database: database)
        return try deliveries.compactMap { try webhooks.lease($0, at: moment, until: end) }
    }

    /// Records the results of attempts. A delivery that another service leased meanwhile stays unchanged.
    package func record(_ results: [WebhookResult]) throws {
        let webhooks = WebhookRecords(database: database)
        for result in results { try webhooks.record(result) }
    }

    /// Deletes delivered messages of events before a moment, and all messages to removed endpoints.
    ///
    /// - Returns: The number of messages; `limit` if there may be more.
    package func deleteWebhookMessages(before moment: Timestamp, limit: Int) throws -> Int {
        try WebhookRecords(database: database).delete(before: moment, limit: limit)
    }
}

extension LedgerTransaction {
    /// Marks the latest delivered and failed messages about a user to an endpoint as pending again.
    ///
    /// - Returns: The number of messages, at most `limit`.
    package func replayWebhooks(about user: User, to endpoint: String, limit: Int) throws -> Int {
        guard try database.has("webhook_delivery"), let user = try users.known(user) else { return 0 }
        return try database.execute(
            """
            UPDATE webhook_delivery SET attempts = 0, next_attempt_at = $1, is_delivered = 0
            WHERE user_id = $2 AND endpoint_id = $3 AND audit_number IN (
                SELECT audit_number FROM webhook_delivery
                WHERE user_id = $2 AND endpoint_id = $3 AND next_attempt_at IS NULL
                ORDER BY audit_number DESC LIMIT $4)
            """,
            [WebhookRecords.atOnce, user, endpoint, limit])
    }
}
