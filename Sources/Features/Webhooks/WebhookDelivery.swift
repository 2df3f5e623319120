import Ledger
import Proofs
import Vocabulary

/// The delivery of an entry of a user's audit log to an endpoint.
///
/// Only the audit log contains the content of the message, so that erased content is never sent.
package struct WebhookDelivery: Hashable, Sendable {
    /// The due time of new and replayed deliveries, which precede all retries.
    static let atOnce = Timestamp(millisecondsSince1970: 0)

    package enum State: String, Sendable, CaseIterable {
        /// The service will make the first or another attempt.
        case pending
        case delivered
        /// All attempts failed. Only a replay makes another one.
        case failed
    }

    package enum Outcome: Hashable, Sendable {
        case answered(status: Int)
        /// The receiver did not answer. The code is the reason.
        case unanswered(code: String)

        package var isDelivery: Bool { if case .answered(200...299) = self { true } else { false } }

        /// A code from a small set, for metrics and logs.
        package var code: String {
            switch self {
            case .answered(let status): "status\(status / 100)xx"
            case .unanswered(let code): code
            }
        }
    }

    package struct Attempt: Hashable, Sendable {
        /// The number of the attempt since the message was created. A replay continues the numbers.
        package let number: Int64
        package let at: Timestamp
        /// The outcome; nil if the attempt has not ended, or if the service stopped during it.
        package let outcome: Outcome?
        /// The duration; nil if the attempt has not ended.
        package let milliseconds: Int64?
        /// The beginning of the answer's body, at most `WebhookResponse.maximumLength` bytes; nil for an answer without a body.
        package let response: String?
    }

    package let endpointIdentifier: String
    /// The identifier of the message, the same in each attempt.
    package let messageIdentifier: String
    /// The type of a message beside the event's own one; nil for the own one. Only RevenueCat's format has others.
    let companion: RevenueCatEvent.Kind?
    /// The user's issuer. It is not checked, so that a damaged name does not block webhooks.
    package internal(set) var issuer: String
    /// The user's name, not checked either.
    package internal(set) var name: String
    /// The number of the entry in the user's audit log. It gives the order of messages, with gaps for entries without a
    /// message.
    package let number: Int64
    package let entry: AuditEntry
    /// The name of the API key that acted; nil for another actor, and if the ledger does not have the key.
    package let actorName: String?
    let isDelivered: Bool
    /// The number of attempts since the message was created or replayed.
    package internal(set) var attempts: Int
    /// The time of the next attempt; nil if there is none.
    package internal(set) var nextAttemptAt: Timestamp?
    let user: Int64
    /// The number of the last attempt since the message was created; 0 if there was none.
    var lastAttemptNumber: Int64
    /// The last attempt; nil if there was none.
    package internal(set) var lastAttempt: Attempt?

    package var state: State { nextAttemptAt != nil ? .pending : isDelivered ? .delivered : .failed }

    /// The primary key: the user, the number of the entry, the endpoint, and the type of a companion.
    var key: [any SQLConvertible] { [user, number, endpointIdentifier, Self.column(of: companion)] }

    /// The column of a companion. The event's own message has none, and the key no null.
    static func column(of companion: RevenueCatEvent.Kind?) -> String { companion?.rawValue ?? "" }
}

extension WebhookDelivery.Attempt {
    /// An attempt that is not recorded.
    package init(of outcome: WebhookDelivery.Outcome, at moment: Timestamp) {
        self.init(number: 0, at: moment, outcome: outcome, milliseconds: nil, response: nil)
    }

    /// The columns of `webhook_attempt`, as `attempt`.
    static let columns = "attempt.number, attempted_at, status, error, duration_ms, response"

    /// The attempt in the next columns, which are `columns`.
    ///
    /// - Returns: Nil for a delivery without an attempt.
    init?(_ row: inout ResultRow) throws {
        guard let number: Int64 = try row.next() else { return nil }
        let (at, status, error): (Timestamp, Int?, String?) = (try row.next(), try row.next(), try row.next())
        self.init(
            number: number, at: at,
            outcome: status.map { .answered(status: $0) } ?? error.map { .unanswered(code: $0) },
            milliseconds: try row.next(), response: try row.next())
    }
}

/// The end of a page of deliveries.
package struct WebhookDeliveryPosition: Hashable, Sendable, LosslessStringConvertible {
    package let happenedAt: Timestamp
    let messageIdentifier: String
}

extension WebhookDeliveryPosition {
    package init(_ delivery: WebhookDelivery) {
        self.init(happenedAt: delivery.entry.happenedAt, messageIdentifier: delivery.messageIdentifier)
    }

    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let milliseconds = Int64(parts[0]), !parts[1].utf8.contains(0) else { return nil }
        self.init(
            happenedAt: Timestamp(millisecondsSince1970: milliseconds), messageIdentifier: String(parts[1]))
    }

    package var description: String { "\(happenedAt.millisecondsSince1970) \(messageIdentifier)" }
}

/// The end of a page of the deliveries about a user: the number in the user's audit log, and the type of a companion.
package struct WebhookDeliveryNumber: Hashable, Sendable, LosslessStringConvertible {
    let number: Int64
    let companion: RevenueCatEvent.Kind?
}

extension WebhookDeliveryNumber {
    package init(_ delivery: WebhookDelivery) {
        self.init(number: delivery.number, companion: delivery.companion)
    }

    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        let companion = parts.count == 2 ? RevenueCatEvent.Kind(rawValue: String(parts[1])) : nil
        guard let number = parts.first.flatMap({ Int64($0) }), parts.count == 1 || companion != nil else { return nil }
        self.init(number: number, companion: companion)
    }

    package var description: String { companion.map { "\(number) \($0.rawValue)" } ?? String(number) }
}

/// The use cases of deliveries. Those of a sender are described in `DeliveryQueue`.
extension WebhookService {
    /// The duration of a lease, in seconds. Afterwards another service may send the messages.
    private static let lease: Int64 = 60
    /// The retention of delivered messages, in days.
    private static let retention: Int64 = 30
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
        try await read(of: identifier) {
            try $0.webhookDeliveries(to: identifier, of: $1.app, in: state, before: position, limit: limit)
        }
    }

    /// The deliveries about a user to a webhook, newest first.
    ///
    /// - Parameter position: The last message of the previous page; nil for the first page.
    /// - Throws: `WebhookError`, `notFound`.
    package func deliveries(
        to identifier: String, about user: User, before position: WebhookDeliveryNumber?, limit: Int
    ) async throws -> [WebhookDelivery] {
        try await read(of: identifier) {
            try $0.webhookDeliveries(to: identifier, of: $1.app, about: user, before: position, limit: limit)
        }
    }

    /// The delivery of a message to a webhook.
    ///
    /// - Throws: `WebhookError`, `notFound`, `messageNotFound`.
    package func delivery(_ message: String, to identifier: String) async throws -> WebhookDelivery {
        try await read(of: identifier) { transaction, endpoint in
            guard let found = try transaction.webhookDelivery(message, to: identifier),
                endpoint.receivesApp(of: found.entry)
            else { throw WebhookError.messageNotFound }
            return found
        }
    }

    /// The last attempts of a delivery, newest first.
    package func attempts(of delivery: WebhookDelivery) async throws -> [WebhookDelivery.Attempt] {
        try await ledger.read { try $0.attempts(of: delivery, limit: Self.maximumAttempts) }
    }

    /// Sends a message again, in any state.
    ///
    /// - Throws: `WebhookError`, `notFound`, `messageNotFound`.
    package func replay(_ message: String, to identifier: String, by key: String) async throws -> WebhookDelivery {
        try await record(.messageReplayed, of: identifier, by: key, detail: message, or: .messageNotFound) {
            try $0.replay(message, to: identifier).flatMap { [endpoint = $1] in
                endpoint.receivesApp(of: $0.entry) ? $0 : nil
            }
        }
    }

    /// Sends failed messages again, oldest first.
    ///
    /// - Returns: The number of messages; `changedAtOnce` if there may be more.
    /// - Throws: `WebhookError`, `notFound`.
    package func replayFailed(to identifier: String, by key: String) async throws -> Int {
        let now = clock.now()
        return try await write(to: identifier) { transaction, _ in
            let count = try transaction.replayFailed(to: identifier, limit: Self.changedAtOnce)
            try transaction.recordReplay(of: count, to: identifier, at: now, by: key)
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
        var last = WebhookDeliveryPosition(happenedAt: start, messageIdentifier: "")
        var count = 0
        for _ in 0..<Self.maximumCommits {
            let now = clock.now()
            let replayed = try await write(to: identifier) { [last] transaction, _ in
                let replayed = try transaction.replay(
                    to: identifier, after: last, until: end, limit: Self.changedAtOnce)
                try transaction.recordReplay(of: replayed.count, to: identifier, at: now, by: key)
                return replayed
            }
            count += replayed.count
            guard let next = replayed.last, replayed.count == Self.changedAtOnce else { return (count, nil) }
            last = next
        }
        return (count, last)
    }

    package func due(for endpoint: WebhookEndpoint, limit: Int) async throws -> [WebhookDelivery]? {
        while true {
            guard try await ledger.read(.snapshot, { try $0.webhookEndpoint(endpoint.identifier) }) == endpoint else {
                return nil
            }
            let due = try await ledger.read {
                try $0.webhookDeliveries(
                    """
                    webhook_delivery.endpoint_id = $1 AND next_attempt_at <= $2
                    ORDER BY next_attempt_at, webhook_delivery.happened_at, webhook_delivery.user_id,
                        webhook_delivery.audit_number, \(RevenueCatEvent.order) LIMIT $3
                    """,
                    [endpoint.identifier, clock.now(), limit])
            }
            let excluded = try await excluded(from: due, to: endpoint)
            guard !excluded.isEmpty else { return due }
            guard try await delete(excluded, from: endpoint) else { return nil }
        }
    }

    /// Deletes deliveries that the filter of an endpoint excludes, without those that somebody leased or replayed meanwhile.
    ///
    /// - Returns: False if the endpoint has changed since the filter was read, or was removed. Then nothing is deleted.
    package func delete(_ excluded: [WebhookDelivery], from endpoint: WebhookEndpoint) async throws -> Bool {
        try await ledger.write { transaction in
            guard try transaction.webhookEndpoint(endpoint.identifier) == endpoint else { return false }
            let present = try excluded.filter {
                try transaction.database.hasRow(
                    """
                    SELECT 1 FROM webhook_delivery
                    WHERE user_id = $1 AND audit_number = $2 AND endpoint_id = $3 AND companion = $4
                        AND next_attempt_at = $5
                    """,
                    $0.key + [$0.nextAttemptAt])
            }
            try transaction.deleteWebhookDeliveries(present.map(\.key))
            return true
        }
    }

    /// The deliveries about another app than the endpoint's, or whose types it does not receive. Their purchases decided the types, or
    /// the filter has changed.
    ///
    /// A purchase may decide another type at a later attempt. Such a message stays, unless the filter has no type of its event.
    private func excluded(
        from due: [WebhookDelivery], to endpoint: WebhookEndpoint
    ) async throws -> [WebhookDelivery] {
        let elsewhere = due.filter { !endpoint.receivesApp(of: $0.entry) }
        guard let types = endpoint.types else { return elsewhere }
        let others = due.filter { endpoint.receivesApp(of: $0.entry) }
        return elsewhere
            + zip(others, try await self.types(of: others, to: endpoint)).compactMap { delivery, type in
                guard let type else { return nil }
                let possible =
                    delivery.lastAttemptNumber == 0
                    ? [type] : endpoint.format.types(of: delivery.entry.event, delivery.companion)
                return types.mayHave(possible) ? nil : delivery
            }
    }

    /// Leases due deliveries. A lease counts as an attempt, even if the service stops during it.
    package func lease(_ due: [WebhookDelivery]) async throws -> [WebhookDelivery] {
        let now = clock.now()
        let end = now.adding(seconds: Self.lease)
        return try await ledger.write { transaction in
            try due.compactMap { delivery -> WebhookDelivery? in
                let (key, number) = (delivery.key, delivery.lastAttemptNumber + 1)
                let isTaken =
                    try transaction.database.execute(
                        """
                        UPDATE webhook_delivery
                        SET attempts = attempts + 1, next_attempt_at = $1, last_attempt = $2
                        WHERE user_id = $3 AND audit_number = $4 AND endpoint_id = $5 AND companion = $6
                            AND next_attempt_at = $7
                        """,
                        [end, number] + key + [delivery.nextAttemptAt]) == 1
                guard isTaken else { return nil }
                try transaction.database.insert(
                    into: "webhook_attempt",
                    ["user_id", "audit_number", "endpoint_id", "companion", "number", "attempted_at"],
                    [key + [number, now]])
                var leased = delivery
                (leased.nextAttemptAt, leased.lastAttemptNumber) = (end, number)
                leased.attempts += 1
                leased.lastAttempt = WebhookDelivery.Attempt(
                    number: number, at: now, outcome: nil, milliseconds: nil, response: nil)
                return leased
            }
        }
    }

    package func result(
        of delivery: WebhookDelivery,
        _ outcome: WebhookDelivery.Outcome,
        milliseconds: Int64? = nil,
        response: WebhookResponse? = nil
    ) -> DeliveryResult<WebhookDelivery> {
        let next =
            outcome.isDelivery
            ? nil : clock.now().retry(after: delivery.attempts, delays: WebhookSchedule.delays, randomness: randomness)
        return DeliveryResult(
            of: delivery, outcome, nextAttemptAt: next, milliseconds: milliseconds, response: response)
    }

    package func record(_ results: [DeliveryResult<WebhookDelivery>]) async throws {
        try await ledger.write { transaction in
            for result in results {
                let (status, error): (Int?, String?) =
                    switch result.outcome {
                    case .answered(let status): (status, nil)
                    case .unanswered(let code): (nil, code)
                    }
                let (leased, key) = (result.message, result.message.key)
                let isCurrent =
                    try transaction.database.execute(
                        """
                        UPDATE webhook_delivery SET next_attempt_at = $1, is_delivered = $2
                        WHERE user_id = $3 AND audit_number = $4 AND endpoint_id = $5 AND companion = $6
                            AND next_attempt_at = $7
                        """,
                        [result.nextAttemptAt, result.outcome.isDelivery] + key + [leased.nextAttemptAt]) == 1
                guard isCurrent else { continue }
                try transaction.database.update(
                    "webhook_attempt", set: ["status", "error", "duration_ms", "response"],
                    where: ["user_id", "audit_number", "endpoint_id", "companion", "number"],
                    [[status, error, result.milliseconds, result.response?.text] + key + [leased.lastAttemptNumber]])
            }
        }
    }

    /// Deletes old delivered messages, and those to removed endpoints.
    package func deleteExpired() async throws -> Bool {
        let moment = clock.now().adding(days: -Self.retention)
        return try await ledger.write { try $0.deleteWebhookMessages(before: moment, limit: Self.changedAtOnce) }
            == Self.changedAtOnce
    }
}
