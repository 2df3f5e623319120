import Commerce
import Ledger
import Wire

/// What is on its way to webhooks.
extension WebhookService {
    /// How long who has taken messages may be sending them, in milliseconds; after that, others may.
    static let lease: Int64 = 60_000
    /// How long what has arrived is shown, in milliseconds.
    static let memory: Int64 = 30 * 86_400 * 1000
    /// How many messages are forgotten, or replayed, in one commit: who redeems waits for no more.
    public static let changedAtOnce = 1000

    /// Newest first.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    public func deliveries(
        to identifier: String,
        in state: WebhookDelivery.State?,
        before position: WebhookDeliveryPosition?,
        limit: Int
    ) async throws -> [WebhookDelivery] {
        _ = try await endpoint(identifier)
        return try await ledger.read {
            try $0.webhookDeliveries(to: identifier, in: state, before: position, limit: limit)
        }
    }

    /// Sends a message again, whatever has become of it.
    ///
    /// - Throws: `WebhookError`, `notFound`, `messageNotFound`.
    public func replay(_ message: String, to identifier: String) async throws -> WebhookDelivery {
        _ = try await endpoint(identifier)
        let found = try await ledger.write { try $0.replay(message, to: identifier) }
        guard let found else { throw WebhookError.messageNotFound }
        return found
    }

    /// Sends again what has failed for good, the oldest first.
    ///
    /// - Returns: How many messages; `changedAtOnce` where there may be more.
    /// - Throws: `WebhookError`, `notFound`.
    public func replayFailed(to identifier: String) async throws -> Int {
        _ = try await endpoint(identifier)
        return try await ledger.write { try $0.replayFailed(to: identifier, limit: Self.changedAtOnce) }
    }

    /// What a delivery tells; nil where it is of something that nobody is told of, which no version has written.
    public func message(_ delivery: WebhookDelivery) -> WebhookMessage? {
        WebhookMessage.Kind(delivery.entry.event).map { WebhookMessage(delivery, $0) }
    }

    /// A delivery as it goes over the line now.
    public func signed(_ delivery: WebhookDelivery, for endpoint: WebhookEndpoint) throws -> SignedWebhook? {
        let now = clock.now()
        return try message(delivery).map {
            SignedWebhook(
                try $0.body(), identifier: delivery.messageIdentifier, secrets: endpoint.secrets(at: now), at: now)
        }
    }

    /// Endpoints for which something is due.
    public func dueEndpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.dueWebhookEndpoints(at: clock.now()) }
    }

    /// What is due for an endpoint.
    ///
    /// - Returns: nil where the endpoint is another by now, or gone.
    public func due(for endpoint: WebhookEndpoint, limit: Int) async throws -> [WebhookDelivery]? {
        guard try await ledger.read(.snapshot, { try $0.webhookEndpoint(endpoint.identifier) }) == endpoint else {
            return nil
        }
        return try await ledger.read { try $0.dueWebhooks(to: endpoint.identifier, at: clock.now(), limit: limit) }
    }

    /// Takes what is due: whoever takes it sends it, and tells how that has ended.
    public func take(_ due: [WebhookDelivery]) async throws -> [WebhookDelivery] {
        let now = clock.now()
        return try await ledger.write {
            try $0.take(
                due, at: now, until: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Self.lease))
        }
    }

    /// What comes of an attempt: anything but a status of 200 to 299 is tried again.
    public func result(of delivery: WebhookDelivery, _ outcome: WebhookDelivery.Outcome) -> WebhookResult {
        if case .answered(200...299) = outcome {
            return WebhookResult(of: delivery, outcome, isDelivered: true, nextAttemptAt: nil)
        }
        return WebhookResult(
            of: delivery, outcome, isDelivered: false,
            nextAttemptAt: WebhookSchedule.next(after: delivery.attempts, at: clock.now(), randomness: randomness))
    }

    public func record(_ results: [WebhookResult]) async throws {
        try await ledger.write { try $0.record(results) }
    }

    /// Forgets what has arrived long ago.
    ///
    /// - Returns: Whether there may be more of it.
    public func forgetOld() async throws -> Bool {
        let moment = Timestamp(millisecondsSince1970: clock.now().millisecondsSince1970 - Self.memory)
        return try await ledger.write { try $0.forgetWebhooks(before: moment, limit: Self.changedAtOnce) }
            == Self.changedAtOnce
    }
}
