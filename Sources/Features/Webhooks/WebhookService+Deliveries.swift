import Ledger
import Proofs

/// The deliveries to webhooks.
extension WebhookService {
    /// The duration of a lease, in milliseconds. Afterwards another service may send the messages.
    static let lease: Int64 = 60_000
    /// The retention of delivered messages, in milliseconds.
    static let retention: Int64 = 30 * 86_400 * 1000
    /// The largest number of messages that one commit deletes or replays. More would delay redemptions.
    package static let changedAtOnce = 1000
    /// The largest number of commits of one replay of a period.
    private static let maximumCommits = 10
    /// The largest number of attempts of one delivery that are returned.
    private static let maximumAttempts = 100

    /// The deliveries to a webhook, newest first.
    ///
    /// - Throws: `WebhookError`, `notFound`.
    package func deliveries(
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

    /// The delivery of a message to a webhook.
    ///
    /// - Throws: `WebhookError`, `notFound`, `messageNotFound`.
    package func delivery(_ message: String, to identifier: String) async throws -> WebhookDelivery {
        _ = try await endpoint(identifier)
        let found = try await ledger.read { try $0.webhookDelivery(message, to: identifier) }
        guard let found else { throw WebhookError.messageNotFound }
        return found
    }

    /// The last attempts of a delivery, newest first.
    package func attempts(of delivery: WebhookDelivery) async throws -> [WebhookDelivery.Attempt] {
        try await ledger.read { try $0.attempts(of: delivery, limit: Self.maximumAttempts) }
    }

    /// Sends a message again, in any state.
    ///
    /// - Throws: `WebhookError`, `notFound`, `messageNotFound`.
    package func replay(_ message: String, to identifier: String, by key: String) async throws -> WebhookDelivery {
        _ = try await endpoint(identifier)
        let record = recording(.messageReplayed, of: identifier, by: key, detail: message)
        let found = try await ledger.write { transaction in
            let found = try transaction.replay(message, to: identifier)
            if found != nil { try record(transaction) }
            return found
        }
        guard let found else { throw WebhookError.messageNotFound }
        return found
    }

    /// Sends failed messages again, oldest first.
    ///
    /// - Returns: The number of messages; `changedAtOnce` if there may be more.
    /// - Throws: `WebhookError`, `notFound`.
    package func replayFailed(to identifier: String, by key: String) async throws -> Int {
        _ = try await endpoint(identifier)
        return try await ledger.write { transaction in
            let count = try transaction.replayFailed(to: identifier, limit: Self.changedAtOnce)
            guard count > 0 else { return 0 }
            try recording(.messagesReplayed, of: identifier, by: key, detail: String(count))(transaction)
            return count
        }
    }

    /// Sends the delivered and the failed messages of a period again, oldest first, in several commits.
    ///
    /// - Parameters:
    ///   - start: The first moment of the period.
    ///   - end: The first moment after it.
    /// - Returns: The number of messages, and the last one if there may be more.
    /// - Throws: `WebhookError`, `notFound`.
    package func replay(
        to identifier: String,
        from start: Timestamp,
        until end: Timestamp,
        by key: String
    ) async throws -> (count: Int, last: WebhookDeliveryPosition?) {
        _ = try await endpoint(identifier)
        var last = WebhookDeliveryPosition(happenedAt: start, messageIdentifier: "")
        var count = 0
        for _ in 0..<Self.maximumCommits {
            let replayed = try await ledger.write { [last] transaction -> [WebhookDeliveryPosition] in
                let replayed = try transaction.replay(
                    to: identifier, after: last, until: end, limit: Self.changedAtOnce)
                guard !replayed.isEmpty else { return [] }
                try recording(.messagesReplayed, of: identifier, by: key, detail: String(replayed.count))(transaction)
                return replayed
            }
            count += replayed.count
            guard let next = replayed.last, replayed.count == Self.changedAtOnce else { return (count, nil) }
            last = next
        }
        return (count, last)
    }

    /// The endpoints with due deliveries.
    package func dueEndpoints() async throws -> [WebhookEndpoint] {
        try await ledger.read { try $0.dueWebhookEndpoints(at: clock.now()) }
    }

    /// The due deliveries to an endpoint.
    ///
    /// - Returns: Nil if the endpoint has changed or was removed.
    package func due(for endpoint: WebhookEndpoint, limit: Int) async throws -> [WebhookDelivery]? {
        guard try await ledger.read(.snapshot, { try $0.webhookEndpoint(endpoint.identifier) }) == endpoint else {
            return nil
        }
        return try await ledger.read { try $0.dueWebhooks(to: endpoint.identifier, at: clock.now(), limit: limit) }
    }

    /// Leases due deliveries. The caller sends them and records their results.
    package func lease(_ due: [WebhookDelivery]) async throws -> [WebhookDelivery] {
        let now = clock.now()
        return try await ledger.write {
            try $0.lease(
                due, at: now, until: Timestamp(millisecondsSince1970: now.millisecondsSince1970 + Self.lease))
        }
    }

    /// The result of an attempt. Any outcome other than a status from 200 to 299 is retried.
    ///
    /// - Parameters:
    ///   - milliseconds: The duration of the attempt; nil if it is unknown.
    ///   - response: The beginning of the answer's body; nil for an answer without a body.
    package func result(
        of delivery: WebhookDelivery,
        _ outcome: WebhookDelivery.Outcome,
        milliseconds: Int64? = nil,
        response: WebhookResponse? = nil
    ) -> WebhookResult {
        if case .answered(200...299) = outcome {
            return WebhookResult(
                of: delivery, outcome, isDelivered: true, nextAttemptAt: nil, milliseconds: milliseconds,
                response: response)
        }
        return WebhookResult(
            of: delivery, outcome, isDelivered: false,
            nextAttemptAt: WebhookSchedule.backoff.next(
                after: delivery.attempts, at: clock.now(), randomness: randomness),
            milliseconds: milliseconds, response: response)
    }

    package func record(_ results: [WebhookResult]) async throws {
        try await ledger.write { try $0.record(results) }
    }

    /// Deletes old delivered messages.
    ///
    /// - Returns: True if there may be more of them.
    package func deleteExpired() async throws -> Bool {
        let moment = Timestamp(millisecondsSince1970: clock.now().millisecondsSince1970 - Self.retention)
        return try await ledger.write { try $0.deleteWebhookMessages(before: moment, limit: Self.changedAtOnce) }
            == Self.changedAtOnce
    }
}
