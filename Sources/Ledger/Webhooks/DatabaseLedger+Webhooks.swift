import Commerce

extension DatabaseLedger: WebhookLedger {
    public func add(_ endpoint: WebhookEndpoint, upTo maximum: Int) throws(StorageFault) -> Bool {
        try storage.write { database in
            let webhooks = WebhookRecords(database: database)
            guard try webhooks.endpoints().count < maximum else { return false }
            try webhooks.insert(endpoint)
            return true
        }
    }

    public func webhookEndpoints() throws(StorageFault) -> [WebhookEndpoint] {
        try storage.read { try WebhookRecords(database: $0).endpoints() }
    }

    public func webhookEndpoint(_ identifier: String) throws(StorageFault) -> WebhookEndpoint? {
        try storage.read { try WebhookRecords(database: $0).endpoint(identifier) }
    }

    public func setURL(
        _ url: String,
        ofWebhookEndpoint identifier: String
    ) throws(StorageFault) -> WebhookEndpoint? {
        try storage.write { database in
            try database.execute(
                "UPDATE webhook_endpoint SET url = $1 WHERE endpoint_id = $2 AND removed_at IS NULL", [url, identifier])
            return try WebhookRecords(database: database).endpoint(identifier)
        }
    }

    public func replace(
        _ presented: [UInt8],
        with secret: [UInt8],
        ending moment: Timestamp,
        ofWebhookEndpoint identifier: String
    ) throws(StorageFault) -> Bool {
        try storage.write { database in
            try database.execute(
                """
                UPDATE webhook_endpoint SET secret = $1, previous_secret = $2, previous_secret_ends_at = $3
                WHERE endpoint_id = $4 AND secret = $2
                """,
                [secret, presented, moment, identifier]) == 1
        }
    }

    public func removeWebhookEndpoint(
        _ identifier: String,
        at moment: Timestamp
    ) throws(StorageFault) -> Bool {
        try storage.write { try WebhookRecords(database: $0).remove(identifier, at: moment) }
    }

    public func webhookDeliveries(
        to identifier: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) throws(StorageFault) -> [WebhookDelivery] {
        try storage.read {
            try WebhookRecords(database: $0).deliveries(to: identifier, in: state, before: position, limit: limit)
        }
    }

    public func replay(_ message: String, to endpoint: String) throws(StorageFault) -> WebhookDelivery? {
        try storage.write { database in
            let webhooks = WebhookRecords(database: database)
            guard try webhooks.replay(message, to: endpoint) else { return nil }
            return try webhooks.delivery(message, to: endpoint)
        }
    }

    public func replayFailed(to endpoint: String, limit: Int) throws(StorageFault) -> Int {
        try storage.write { try WebhookRecords(database: $0).replayFailed(to: endpoint, limit: limit) }
    }

    public func dueWebhookEndpoints(at moment: Timestamp) throws(StorageFault) -> [WebhookEndpoint] {
        try storage.read { try WebhookRecords(database: $0).dueEndpoints(at: moment) }
    }

    public func dueWebhooks(
        to endpoint: String,
        at moment: Timestamp,
        limit: Int
    ) throws(StorageFault) -> [WebhookDelivery] {
        try storage.read { try WebhookRecords(database: $0).due(to: endpoint, at: moment, limit: limit) }
    }

    public func take(
        _ deliveries: [WebhookDelivery],
        at moment: Timestamp,
        until end: Timestamp
    ) throws(StorageFault) -> [WebhookDelivery] {
        try storage.write { database in
            let webhooks = WebhookRecords(database: database)
            return try deliveries.compactMap { try webhooks.take($0, at: moment, until: end) }
        }
    }

    public func record(_ results: [WebhookResult]) throws(StorageFault) {
        try storage.write { database in
            let webhooks = WebhookRecords(database: database)
            for result in results { try webhooks.record(result) }
        }
    }

    public func forgetWebhooks(before moment: Timestamp, limit: Int) throws(StorageFault) -> Int {
        try storage.write { try WebhookRecords(database: $0).forget(before: moment, limit: limit) }
    }
}
